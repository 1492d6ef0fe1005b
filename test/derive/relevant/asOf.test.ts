import { expect } from "chai";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { isOrdinaryAt, kindAt, mostHubTransfers, paramsAt } from "tallystick-derive/relevant/asOf";
import type { Read } from "tallystick-derive/relevant/reads";
import { countTold, firstSpent, hasSentTooMany } from "tallystick-derive/relevant/senders";
import { formerParams, kindUntil, noteKind, noteParams, paramsUntil } from "tallystick-derive/relevant/until";
import { markWallet } from "tallystick-derive/wallets";
import type { Address } from "tallystick-protocol/address";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { contextAt } from "../contextAt.ts";
import { START, wallet } from "../eventLog.ts";

const [A, B] = [wallet(1), wallet(2)];
const at = (block: number, log: number) => ({ block, log });

/** The same rows at another place, with these parameters in force. */
const moved = (
  context: ApplyContext,
  block: number,
  log: number | null,
  hubTransfers = 10,
): ApplyContext => ({
  ...context,
  at: { ...context.at, block, log },
  params: { ...context.params, hubTransfers },
});

describe("the parameters at an earlier place", () => {
  /** 10 until [20, 3], then 30 until the tick of block 25, and 20 since. */
  function changed() {
    const context = contextAt(30, 0, { form: "relevant", params: { hubTransfers: 20 } });
    noteParams(moved(context, 20, 3, 10));
    noteParams(moved(context, 25, null, 30));
    return context;
  }

  it("are those in force there; the last ones are in force from the place at which they were published", () => {
    const context = changed();
    const of = (block: number, log: number) => paramsAt(context, at(block, log)).hubTransfers;
    expect([of(0, 0), of(20, 2), of(20, 3), of(24, 9)]).to.deep.equal([10, 10, 30, 30]);
    // A tick has no log number, and is stored as the beginning of its block.
    expect([of(25, 0), of(26, 0)]).to.deep.equal([20, 20]);
    expect(paramsAt(context, at(26, 0))).to.equal(context.params);
    expect(paramsUntil(context, at(25, 0))).to.equal(null);
    expect(paramsAt(context, at(1, 0))).to.equal(paramsAt(context, at(2, 0)));
  });

  it("have had the highest number of transfers that any of them had", () => {
    const context = changed();
    expect(mostHubTransfers(context)).to.equal(30);
    expect(mostHubTransfers(moved(context, 30, 0, 40))).to.equal(40);
    expect(mostHubTransfers(contextAt(1, 0, { params: { hubTransfers: 7 } }))).to.equal(7);
    const former = [...formerParams(context)].map((it) => JSON.parse(it).hubTransfers);
    expect(former).to.deep.equal([10, 30]);
  });
});

describe("a wallet at an earlier place", () => {
  /** A was nothing until [20, 3], and then a hub until [22, 0]. It is an escrow since. */
  function changed() {
    const context = contextAt(30, 0, { form: "relevant" });
    noteKind(moved(context, 20, 3), A, null);
    noteKind(moved(context, 22, 0), A, "hub");
    markWallet({ ...context, isFirst: true }, A, "escrow");
    return context;
  }

  it("is what it was there", () => {
    const context = changed();
    const kind = (block: number, log: number) => kindAt(context, A, at(block, log));
    expect([kind(0, 0), kind(20, 2), kind(20, 3), kind(21, 9), kind(22, 0), kind(40, 0)]).to.deep.equal([
      ...[null, null, "hub", "hub", "escrow", "escrow"],
    ]);
    expect(kindUntil(context, A, at(20, 2))).to.equal(null);
    expect(kindUntil(context, A, at(22, 0))).to.equal(undefined);
    expect(kindAt(context, B, at(1, 0))).to.equal(null);
  });

  it("sends an ordinary transfer if neither side was a hub or an escrow, and nothing was minted", () => {
    const context = changed();
    const is = (from: string, to: string, block: number) =>
      isOrdinaryAt(context, { from, to, ...at(block, 0) });
    expect([is(A, B, 20), is(B, A, 20)]).to.deep.equal([true, true]);
    expect([is(A, B, 21), is(B, A, 21)]).to.deep.equal([false, false]);
    expect([is(A, B, 22), is(B, A, 22)]).to.deep.equal([false, false]);
    expect(is(ZERO_ADDRESS, B, 20)).to.equal(false);
    expect(is(B, ZERO_ADDRESS, 20)).to.equal(true);
  });

  it("keeps what it was when its kind changes, but not at the beginning of a log", () => {
    const context = contextAt(20, 3, { form: "relevant" });
    markWallet(context, A, "hub");
    expect([kindAt(context, A, at(20, 2)), kindAt(context, A, at(20, 3))]).to.deep.equal([null, "hub"]);
    markWallet({ ...context, isFirst: true }, B, "hub");
    expect(kindAt(context, B, at(0, 0))).to.equal("hub");
    const all = contextAt(20, 3);
    markWallet(all, A, "hub");
    expect(kindUntil(all, A, at(0, 0))).to.equal(undefined);
  });
});

describe("the transfers that left a wallet", () => {
  const reads: Read[] = [];
  function scene(isKnown: boolean) {
    reads.length = 0;
    const ask = (it: Read) => {
      reads.push(it);
      return isKnown;
    };
    return contextAt(30, 0, { form: "relevant", params: { hubTransfers: 5 }, ask });
  }
  const tell = (
    context: ApplyContext,
    side: "out" | "spent",
    transfers: number,
    block: number,
    log: number,
  ) =>
    countTold(context, {
      kind: "count",
      wallet: A as Address,
      side,
      transfers,
      block,
      log,
      time: START + block,
    });

  it("were too many if the last allowed one was before the place", () => {
    const context = scene(true);
    tell(context, "out", 5, 20, 3);
    const many = (block: number, log: number) => hasSentTooMany(context, { from: A, ...at(block, log) });
    expect([many(20, 2), many(20, 3), many(20, 4), many(21, 0)]).to.deep.equal([false, false, true, true]);
    expect(reads).to.deep.equal([]);
    const other = scene(true);
    tell(other, "out", 4, 20, 3);
    expect(hasSentTooMany(other, { from: A, ...at(30, 0) })).to.equal(false);
    expect(reads).to.deep.equal([{ kind: "transfersFrom", wallet: A, before: at(30, 0), limit: 5 }]);
  });

  it("count as too many while their number is not known yet", () => {
    expect(hasSentTooMany(scene(false), { from: A, ...at(30, 0) })).to.equal(true);
  });

  it("say where it first spent, if that was before the place", () => {
    const context = scene(true);
    tell(context, "spent", 1, 20, 3);
    const place = { block: 20, log: 3, time: START + 20 };
    expect(firstSpent(context, A, at(20, 4))).to.deep.equal(place);
    expect(firstSpent(context, A, at(20, 3))).to.equal(null);
    expect(reads).to.deep.equal([]);
    expect(firstSpent(context, B, { ...at(20, 3), other: 1 } as never)).to.equal(null);
    expect(reads).to.deep.equal([{ kind: "firstSpent", wallet: B, before: at(20, 3) }]);
    expect(firstSpent(scene(false), B, at(20, 3))).to.equal(undefined);
  });

  it("are told once: a repeated line changes nothing", () => {
    const context = scene(true);
    tell(context, "spent", 1, 20, 3);
    tell(context, "spent", 1, 9, 9);
    expect(context.store.get("transferCount", `${A}/spent/1`)).to.deep.equal({
      ...{ id: `${A}/spent/1`, block: 20, log: 3, time: START + 20 },
    });
  });
});
