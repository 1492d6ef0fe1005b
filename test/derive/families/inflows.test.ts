import { expect } from "chai";
import { emptyRow } from "tallystick-derive/emptyRow";
import {
  inflowOfTransfer,
  largestUpTo,
  noteDeclaration,
  noteInflow,
  noteSpent,
} from "tallystick-derive/families/inflows";
import { parseInflow, parseOrigin } from "tallystick-derive/families/origin";
import { noteSettlement } from "tallystick-derive/families/payouts";
import { listLength } from "tallystick-derive/lists";
import { findWallet } from "tallystick-derive/wallets";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { contextAt } from "../contextAt.ts";
import { ESCROW, START, wallet } from "../eventLog.ts";
import { declare, fund, spend } from "./tellMoney.ts";

const [B, F, G] = [wallet(2), wallet(50), wallet(51)];
const place = { block: 20, log: 5, time: START + 20 };

describe("a transfer as an inflow of its receiver", () => {
  const how = (from: string, kind: string | null = null, isBusy = false, value = 7n, to: string = B) =>
    inflowOfTransfer(contextAt(20, 5), { from, to, value, ...place }, kind, isBusy)?.how ?? null;

  it("has its sender, its amount and its place", () => {
    const inflow = inflowOfTransfer(contextAt(20, 5), { from: F, to: B, value: 7n, ...place }, null, false);
    expect(inflow).to.deep.equal({ from: F, value: 7n, ...place, how: "plain" });
  });

  it("says who sent it: a mint before a hub, a hub before a busy sender", () => {
    expect(how(F)).to.equal("plain");
    expect(how(F, null, true)).to.equal("busy");
    expect(how(F, "hub")).to.equal("hub");
    expect(how(F, "hub", true)).to.equal("hub");
    expect(how(ZERO_ADDRESS)).to.equal("mint");
    expect(how(ZERO_ADDRESS, "hub", true)).to.equal("mint");
  });

  it("does not count if it moves nothing, or comes from the wallet itself", () => {
    expect(how(F, null, false, 0n)).to.equal(null);
    expect(how(B)).to.equal(null);
    expect(how(B, "hub", true)).to.equal(null);
    expect(how(F, null, false, 1n)).to.equal("plain");
  });

  it("counts from an escrow only as a payout of the buyer's money to somebody else", () => {
    const context = contextAt(20, 5);
    const row = {
      ...emptyRow("escrow"),
      ...{ id: "0x01", provider: "p", escrow: ESCROW, hireId: "0x02", seller: B, buyer: F, payee: B },
      ...{ amount: 100n, feeRecipient: G, arbiter: G, tx: "0x03", status: "released" },
      ...{ toSeller: 70n, toBuyer: 30n },
    };
    context.store.insert("escrow", row);
    noteSettlement({ ...context, at: { ...context.at, log: 4 } }, row);
    const paid = (to: string, value: bigint) =>
      inflowOfTransfer(context, { from: ESCROW, to, value, ...place }, "escrow", true);
    expect(paid(B, 70n)).to.deep.equal({ from: F, value: 70n, ...place, how: "payout" });
    expect(paid(F, 30n)).to.equal(null);
    expect(paid(B, 71n)).to.equal(null);
  });
});

describe("the first money of a wallet, in a log of all transfers", () => {
  it("is the largest until the wallet spends, and then stays", () => {
    const context = contextAt(90, 0);
    const origin = () => parseOrigin(findWallet(context, B)?.origin ?? "");
    fund(context, B, F, 5, [10, 1]);
    fund(context, B, G, 4, [10, 2]);
    expect(origin()).to.deep.include({ act: null });
    expect(origin().inflow?.from).to.equal(F);
    fund(context, B, G, 6, [10, 3]);
    expect(origin().inflow).to.include({ from: G, value: 6n });
    spend(context, B, [11, 0]);
    fund(context, B, F, 9, [12, 0]);
    spend(context, B, [13, 0]);
    expect(origin().inflow).to.include({ from: G, value: 6n });
    expect(origin().act).to.deep.equal({ block: 11, log: 0, time: START + 11 });
  });

  it("is copied at a wallet's first declaration, unless the wallet has spent or has no money", () => {
    const begun = (act: (context: ReturnType<typeof contextAt>) => void) => {
      const context = contextAt(90, 0);
      act(context);
      return findWallet(context, B)?.begun ?? null;
    };
    expect(begun((it) => declare(it, B, [9, 0]))).to.equal(null);
    const funded = (it: ReturnType<typeof contextAt>) => fund(it, B, F, 5, [8, 1]);
    expect(parseInflow(begun((it) => [funded(it), declare(it, B, [9, 0])]) ?? "")).to.include({
      from: F,
      value: 5n,
    });
    const twice = begun((it) => [
      funded(it),
      declare(it, B, [9, 0]),
      fund(it, B, G, 6, [9, 1]),
      declare(it, B, [9, 2]),
    ]);
    expect(parseInflow(twice ?? "").from).to.equal(F);
    expect(begun((it) => [funded(it), spend(it, B, [8, 2]), declare(it, B, [9, 0])])).to.equal("");
  });

  it("is noted without changing a row if nothing changes", () => {
    const context = contextAt(90, 0);
    fund(context, B, F, 5, [10, 1]);
    spend(context, B, [11, 0]);
    const row = { ...(findWallet(context, B) as object) };
    const next = { ...context, wallets: new Map([[B, { row, stored: row }]]) } as unknown as typeof context;
    noteInflow(next, B, { from: G, value: 9n, how: "plain", ...place });
    noteSpent(next, B, place);
    expect(next.wallets.get(B)?.row).to.equal(row);
    declare(next, B, [12, 0]);
    expect(next.wallets.get(B)?.row).to.equal(row);
    const fresh = { ...row, origin: `${F} 5 10 1 9 plain` };
    const small = {
      ...context,
      wallets: new Map([[B, { row: fresh, stored: fresh }]]),
    } as unknown as typeof context;
    noteInflow(small, B, { from: G, value: 5n, how: "plain", ...place });
    expect(small.wallets.get(B)?.row).to.equal(fresh);
  });

  it("of a wallet that declares itself has that place, the first one", () => {
    for (const form of ["all", "relevant"] as const) {
      const context = contextAt(7, 4, { form });
      noteDeclaration(context, B);
      declare(context, B, [9, 0]);
      const row = { id: B, block: 7, log: 4, time: START + 7 };
      expect(context.store.get("declaration", B)).to.deep.equal(row);
      const tick = contextAt(7, null, { form });
      noteDeclaration(tick, B);
      expect(tick.store.get("declaration", B)).to.deep.equal({ ...row, log: 0 });
    }
  });
});

describe("the largest inflow up to a place, in a log of relevant transfers", () => {
  it("includes the place, and is the first of equal ones", () => {
    const context = contextAt(90, 0, { form: "relevant" });
    const upTo = (block: number, log: number) => {
      const found = largestUpTo(context, B, { block, log });
      return found === null ? null : [found.from, found.value];
    };
    expect(upTo(90, 0)).to.equal(null);
    fund(context, B, F, 5, [10, 3]);
    fund(context, B, G, 5, [10, 4]);
    fund(context, B, G, 4, [10, 5]);
    fund(context, B, G, 10, [11, 2]);
    expect(upTo(10, 2)).to.equal(null);
    expect(upTo(9, 9)).to.equal(null);
    expect(upTo(10, 3)).to.deep.equal([F, 5n]);
    expect(upTo(11, 1)).to.deep.equal([F, 5n]);
    expect(upTo(11, 2)).to.deep.equal([G, 10n]);
    expect(listLength(context.store, `largest/${B}`)).to.equal(2);
    // A relevant log copies nothing at a declaration: it looks the money up.
    declare(context, B, [12, 0]);
    expect(findWallet(context, B)).to.equal(null);
  });
});
