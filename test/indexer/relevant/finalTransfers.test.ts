import { expect } from "chai";
import type { Address } from "tallystick-protocol/address";
import { OrphanedBlockError } from "../../../indexer/logPort/errors.ts";
import type { LogPort, TokenTransfer } from "../../../indexer/logPort/logPort.ts";
import { FinalTransfers } from "../../../indexer/relevant/finalTransfers.ts";
import type { RetryRead } from "../../../indexer/relevant/retryRead.ts";
import { wallet } from "../../derive/eventLog.ts";
import { hashOf } from "./support/portOf.ts";

const retryRead: RetryRead = (work) => work({ signal: new AbortController().signal, deadlineMs: 1_000 });

type Asked = { wallets: number; from: number; to: number };

/** Opens a port with transfers that wallets sent. It notes each request. */
function openSent(sent: ReadonlyMap<Address, readonly number[]>) {
  const asked: Asked[] = [];
  /** The next requests wait for these. */
  const wait: Promise<void>[] = [];
  const transfersFrom: LogPort["transfersFrom"] = async (wallets, place, { limit = Infinity }) => {
    const { from, to } = place as { from: number; to: number };
    asked.push({ wallets: wallets.length, from, to });
    await wait.shift();
    return wallets.flatMap((it) =>
      (sent.get(it) ?? [])
        .map((block, log) => transfer(it, block, log))
        .filter(({ block }) => block >= from && block <= to)
        .slice(0, limit),
    );
  };
  const transfers = new FinalTransfers({ name: "a port in memory", transfersFrom } as LogPort, 0);
  const first = (wallets: readonly Address[], upTo: number, limit: number) =>
    transfers.first("transfersFrom", wallets, upTo, limit, retryRead);
  return { transfers, asked, first, wait };
}

function transfer(from: Address, block: number, log: number): TokenTransfer {
  const place = { block, blockHash: hashOf(block), time: null, log, tx: hashOf(block) };
  return { ...place, from, to: wallet(1), value: 1n };
}

describe("the transfers in final blocks", () => {
  it("may be very many in one read", async () => {
    const senders = Array.from({ length: 150 }, (_, n) => wallet(100 + n));
    const blocks = Array.from({ length: 1_000 }, (_, n) => n);
    const { first } = openSent(new Map(senders.map((it) => [it, blocks])));
    const found = await first(senders, 2_000, 1_000);
    expect([...found.values()].map(({ length }) => length)).to.deep.equal(senders.map(() => 1_000));
  });

  it("are not read again if enough of a wallet's transfers are known, even if these are in one block", async () => {
    const sender = wallet(2);
    const { transfers, asked, first } = openSent(new Map([[sender, [1, 5, 5, 5, 5, 9]]]));
    for (const limit of [2, 3, 1]) {
      expect((await first([sender], 20, limit)).get(sender)).to.have.length.of.at.least(limit);
      expect(transfers.isKnown("transfersFrom", sender, 20, limit)).to.equal(true);
    }
    expect(asked).to.deep.equal([
      { wallets: 1, from: 0, to: 20 },
      { wallets: 1, from: 5, to: 20 },
    ]);
    const all = (await first([sender], 20, 10)).get(sender) ?? [];
    expect(all.map(({ block, log }) => [block, log])).to.deep.equal(
      [1, 5, 5, 5, 5, 9].map((block, log) => [block, log]),
    );
  });

  it("of many wallets come with one read, even if they are known up to different blocks", async () => {
    const senders = Array.from({ length: 50 }, (_, n) => wallet(100 + n));
    const blocks = new Map(senders.map((it, n) => [it, [10 + 1_000 * n, 90_000 + n]]));
    const { asked, first } = openSent(blocks);
    await first(senders, 100_000, 1);
    const found = await first(senders, 100_000, 10);
    for (const it of senders) expect(found.get(it)?.map(({ block }) => block)).to.deep.equal(blocks.get(it));
    expect(asked).to.deep.equal([
      { wallets: 50, from: 0, to: 100_000 },
      { wallets: 50, from: 10, to: 100_000 },
    ]);
  });

  it("are given once, also if a read that another wallet shares has some of them again", async () => {
    const [known, fresh] = [wallet(2), wallet(3)];
    const { asked, first } = openSent(
      new Map([
        [known, [5, 900]],
        [fresh, [7]],
      ]),
    );
    await first([known], 100, 10);
    const found = await first([known, fresh], 1_000, 10);
    expect(asked.at(-1)).to.deep.equal({ wallets: 2, from: 0, to: 1_000 });
    expect(found.get(known)?.map(({ block }) => block)).to.deep.equal([5, 900]);
  });

  it("are not read again from the beginning when only the newest blocks are missing", async () => {
    const [old, fresh] = [wallet(2), wallet(3)];
    const blocks = Array.from({ length: 100 }, (_, n) => 10 * n);
    const { asked, first } = openSent(
      new Map([
        [old, blocks],
        [fresh, blocks],
      ]),
    );
    await first([old], 10_000, 1_000);
    const found = await first([old, fresh], 10_032, 1_000);
    expect([...found.values()].map(({ length }) => length)).to.deep.equal([100, 100]);
    expect(asked).to.deep.equal([
      { wallets: 1, from: 0, to: 10_000 },
      { wallets: 1, from: 0, to: 10_032 },
      { wallets: 1, from: 10_001, to: 10_032 },
    ]);
  });

  it("are not forgotten when another read of the same wallet, which did not go so far, ends later", async () => {
    const sender = wallet(2);
    const { transfers, first, wait } = openSent(new Map([[sender, [1, 5, 9]]]));
    const near = Promise.withResolvers<void>();
    wait.push(near.promise);
    const [slow, far] = [first([sender], 6, 10), first([sender], 20, 10)];
    expect((await far).get(sender)).to.have.length(3);
    near.resolve();
    expect((await slow).get(sender)).to.have.length(2);
    expect(transfers.isKnown("transfersFrom", sender, 20, 10)).to.equal(true);
    expect(transfers.sentFewer(sender, 20, 4)).to.equal(true);
  });

  it("do not have to stay in memory to know that a wallet sent few of them", async () => {
    const [few, many] = [wallet(2), wallet(3)];
    const others = Array.from({ length: 505 }, (_, n) => wallet(100 + n));
    const blocks = Array.from({ length: 1_000 }, (_, n) => n);
    const sent = new Map([...others, many].map((it): [Address, number[]] => [it, blocks]));
    const { transfers, first } = openSent(sent.set(few, [1, 5, 9]));
    await first([few, many], 2_000, 10);
    for (let n = 0; n < others.length; n += 100) await first(others.slice(n, n + 100), 2_000, 1_000);
    expect(transfers.isKnown("transfersFrom", few, 2_000, 10)).to.equal(false);
    expect(transfers.sent(few, 2_000)).to.deep.include({ upTo: 2_000, transfers: 3 });
    expect(transfers.sent(few, 2_000)?.spent?.block).to.equal(1);
    expect(transfers.sentFewer(few, 2_000, 4)).to.equal(true);
    expect(transfers.sentFewer(few, 1_000, 4)).to.equal(true);
    expect(transfers.sentFewer(few, 2_000, 3)).to.equal(false);
    expect(transfers.sentFewer(few, 2_001, 4)).to.equal(false);
    // This wallet's list was cut, so nobody knows how many it sent.
    expect(transfers.sentFewer(many, 2_000, 1_000_000)).to.equal(false);
    expect(transfers.sentFewer(wallet(9), 2_000, 1)).to.equal(false);
  });

  it("have no time of another block that came to the same number", async () => {
    const headers: LogPort["headers"] = async (blocks) =>
      blocks.map((block) => ({ block, hash: hashOf(block + 1), parentHash: hashOf(block), time: 60 }));
    const transfers = new FinalTransfers({ name: "a port in memory", headers } as LogPort, 0);
    const error = await transfers.withTimes([transfer(wallet(2), 5, 0)], retryRead).catch((it) => it);
    expect(error).to.be.instanceOf(OrphanedBlockError);
  });

  it("have no transaction of a block after the one that is asked for, also if a later question got it", async () => {
    const tx = hashOf(7);
    let asked = 0;
    const transactionLogs: LogPort["transactionLogs"] = async (_, asOf) => {
      asked++;
      return asOf < 5 ? null : { tx, block: 5, blockHash: hashOf(5), transfers: [], authorizations: [] };
    };
    const transfers = new FinalTransfers({ name: "a port in memory", transactionLogs } as LogPort, 0);
    const blocks: (number | undefined)[] = [];
    for (const asOf of [4, 9, 4, 5]) blocks.push((await transfers.transaction(tx, asOf, retryRead))?.block);
    expect([blocks, asked]).to.deep.equal([[undefined, 5, undefined, 5], 2]);
  });
});
