import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { expect } from "chai";
import fc from "fast-check";
import type { MemoryStore } from "../../../indexer/src/derive/memoryStore.ts";
import { digestFields } from "../../../indexer/src/derive/reputation.ts";
import { DAY, EventLog, wallet } from "./eventLog.ts";

const sha256 = (...parts: Uint8Array[]) => createHash("sha256").update(Buffer.concat(parts)).digest();

function pricesOf(store: MemoryStore, agent: string) {
  return [...store.rows("capability").values()].filter((it) => it.agent === agent);
}

/** The root straight from its definition, over all rows at once. */
function rootOf(store: MemoryStore): Buffer {
  const leaves = [
    ...[...store.rows("agent").values()].map((it) => [
      it.id,
      canonicalize([it.id, digestFields(it, pricesOf(store, it.id))]),
    ]),
    ...[...store.rows("cluster").values()].map((it) => [
      it.id,
      canonicalize([it.id, it.mergedInto, it.size]),
    ]),
  ].map(([key = "", json = ""]) => ({ key: sha256(Buffer.from(key)), leaf: sha256(Buffer.from(json)) }));

  const node = (within: typeof leaves, depth: number): Buffer => {
    const children = Array.from({ length: 16 }, (_, nibble) => {
      const below = within.filter(
        (it) => Number.parseInt(it.key.toString("hex").charAt(depth), 16) === nibble,
      );
      if (below.length === 0) return Buffer.alloc(32);
      const [only] = below;
      return below.length === 1 && only ? sha256(Buffer.of(0), only.key, only.leaf) : node(below, depth + 1);
    });
    return sha256(Buffer.of(1), ...children);
  };
  return node(leaves, 0);
}

describe("the digest", () => {
  it("is the root over all agents and clusters, however they came to be", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.record({
            seller: fc.integer({ min: 1, max: 40 }),
            buyer: fc.integer({ min: 1, max: 40 }),
            tick: fc.boolean(),
          }),
          { maxLength: 60 },
        ),
        async (steps) => {
          const log = new EventLog();
          for (const { seller, buyer, tick } of steps) {
            log.after(60).transfer(wallet(100), wallet(buyer), 1_000_000);
            log.hire(wallet(seller), wallet(buyer));
            if (tick) log.after(DAY / 3).tick();
          }
          log.tick();
          const { digest, store, asOf } = await log.derive();
          const root = rootOf(store).toString("hex");
          const expected = sha256(Buffer.from(canonicalize([root, 1, asOf.block, asOf.time]) ?? ""));
          expect(digest).to.equal(`0x${expected.toString("hex")}`);
        },
      ),
      { numRuns: 40 },
    );
  });

  it("is kept per tick", async () => {
    const log = new EventLog();
    log.tick().hire(wallet(1), wallet(2));
    log.tick().tick();
    const { store } = await log.derive();
    const digests = [...store.rows("digest").values()];
    expect(digests).to.have.length(3);
    expect(digests[0]?.root).to.not.equal(digests[1]?.root);
    expect(digests[1]?.root, "nothing happened in between").to.equal(digests[2]?.root);
    expect(digests[1]?.digest).to.not.equal(digests[2]?.digest);
  });
});
