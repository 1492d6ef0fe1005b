import { expect } from "chai";
import type { Hex } from "tallystick-protocol/hex";
import { type CheckedAgainst, checkLogs } from "../../../indexer/logPort/checkLogs.ts";
import type { HistoryRead, TokenTransfer } from "../../../indexer/logPort/logPort.ts";
import { readInGroups } from "../../../indexer/logPort/readInGroups.ts";
import { wallet } from "./support/fakeChain.ts";

const [ALICE, BOB] = [wallet(1), wallet(2)];
const hash = (digit: string): Hex => `0x${digit.repeat(64)}`;
const range = { from: 5, to: 9 };
const query = { kind: "transfersTo", wallets: [ALICE, BOB] } as const;

function transfer(block: number, log: number, blockHash = hash("a")): TokenTransfer {
  return { ...{ block, blockHash, time: null, log, tx: hash("b") }, from: BOB, to: ALICE, value: 1n };
}

describe("the logs of an answer", () => {
  const check =
    (logs: TokenTransfer[], more: Partial<CheckedAgainst> = {}) =>
    () =>
      checkLogs(logs, { source: "a source", query, range, ...more });

  it("are sorted in the order of the chain, including both ends of the range", () => {
    const logs = [transfer(9, 0), transfer(5, 7), transfer(5, 3)];
    expect(check(logs)().map(({ block, log }) => [block, log])).to.deep.equal([
      [5, 3],
      [5, 7],
      [9, 0],
    ]);
  });

  it("are refused outside of the range, for another wallet, or twice", () => {
    expect(check([transfer(4, 0)])).to.throw("from 5 to 9");
    expect(check([transfer(10, 0)])).to.throw("from 5 to 9");
    expect(check([{ ...transfer(5, 0), to: wallet(3) }])).to.throw("not asked for");
    expect(check([transfer(5, 1), transfer(5, 1)])).to.throw("twice");
  });

  it("have times that never decrease, and one time in each block", () => {
    const at = (block: number, log: number, time: number | null) => ({ ...transfer(block, log), time });
    expect(check([at(5, 0, 10), at(5, 1, 10), at(6, 0, null), at(7, 0, 10), at(8, 0, 12)])).not.to.throw();
    expect(check([at(5, 0, 10), at(6, 0, null), at(7, 0, 9)])).to.throw(
      "logs[2].time cannot be 9 in block 7",
    );
    expect(check([at(5, 0, 10), at(5, 1, 11)])).to.throw("logs[1].time");
  });

  it("are of one chain: each block has one hash, which is the known hash", () => {
    const code = (run: () => unknown) => {
      try {
        return run() && "fine";
      } catch (error) {
        return (error as { code: string }).code;
      }
    };
    expect(code(check([transfer(5, 1), transfer(5, 2, hash("c"))]))).to.equal("source_orphaned_block");
    const hashes = new Map([[6, hash("c")]]);
    expect(code(check([transfer(6, 1)], { hashes }))).to.equal("source_orphaned_block");
    expect(code(check([transfer(6, 1, hash("c"))], { hashes }))).to.equal("fine");
    expect(code(check([transfer(7, 1)], { hashes }))).to.equal("fine");
  });

  it("end where the longest group of wallets ends", async () => {
    const read = (ends: (number | null)[]) =>
      readInGroups(query, range, { source: "a source", size: 1 }, async (): Promise<HistoryRead> => {
        const block = ends.shift() ?? null;
        return { logs: [], end: block === null ? null : { block, hash: hash("a") } };
      });
    for (const ends of [
      [7, 9],
      [9, 7],
      [null, 9],
      [9, null],
    ])
      expect((await read([...ends])).end?.block, ends.join()).to.equal(9);
    expect((await read([null, null])).end).to.equal(null);
  });
});
