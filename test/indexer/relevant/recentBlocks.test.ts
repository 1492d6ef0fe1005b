import { expect } from "chai";
import type { LogPort } from "../../../indexer/logPort/logPort.ts";
import { RecentBlocks } from "../../../indexer/relevant/recentBlocks.ts";
import type { RetryRead } from "../../../indexer/relevant/retryRead.ts";
import { hashOf } from "./support/portOf.ts";

describe("the blocks that are not final", () => {
  const once: RetryRead = (work) => work({ signal: new AbortController().signal, deadlineMs: 1_000 });
  let read: number;
  let forkedFrom = Infinity;
  const forkHash = (block: number) => hashOf(1_000_000 + block);
  const there = (block: number) => (block >= forkedFrom ? forkHash(block) : hashOf(block));
  const port: Pick<LogPort, "name" | "headers" | "blockLogs"> = {
    name: "a port",
    headers: async (blocks) => {
      read += blocks.length;
      return blocks.map((block) => ({
        block,
        hash: there(block),
        parentHash: there(block - 1),
        time: block,
      }));
    },
    blockLogs: async (blocks) => blocks.map(() => ({ transfers: [], authorizations: [] })),
  };
  const at = (block: number) => ({ block, hash: hashOf(block) });

  it("are read once each, also while the chain has no finality for hours", async () => {
    read = 0;
    const blocks = new RecentBlocks(port);
    const first = await blocks.upTo(at(5_000), 1, once);
    expect(first.map(({ block }) => block)).to.deep.equal(Array.from({ length: 5_000 }, (_, n) => n + 1));
    expect(read).to.equal(5_000);
    for (let head = 5_001; head <= 5_020; head++) {
      expect((await blocks.upTo(at(head), 1, once)).length).to.equal(head);
    }
    expect(read).to.equal(5_020);
  });

  it("are read again from the first block of a reorg on", async () => {
    read = 0;
    const blocks = new RecentBlocks(port);
    await blocks.upTo(at(100), 1, once);
    forkedFrom = 96;
    const read100 = read;
    const forked = await blocks.upTo({ block: 101, hash: forkHash(101) }, 1, once);
    expect(forked.map(({ hash }) => hash)).to.deep.equal([
      ...Array.from({ length: 95 }, (_, n) => hashOf(n + 1)),
      ...Array.from({ length: 6 }, (_, n) => forkHash(96 + n)),
    ]);
    expect(read - read100).to.equal(6);
    forkedFrom = Infinity;
    await blocks.upTo(at(101), 1, once);
    expect(read - read100).to.equal(7);
  });

  it("are forgotten when they are final, if too many are stored", async () => {
    read = 0;
    const blocks = new RecentBlocks(port);
    await blocks.upTo(at(5_000), 1, once);
    await blocks.upTo(at(5_001), 4_990, once);
    expect(read).to.equal(5_001);
    await blocks.upTo(at(5_001), 4_980, once);
    expect(read, "ten of them again").to.equal(5_011);
  });
});
