import { expect } from "chai";
import type { ApplyContext } from "tallystick-derive/applyContext";
import { emptyRow } from "tallystick-derive/emptyRow";
import { noteSettlement, payerOf } from "tallystick-derive/families/payouts";
import { contextAt } from "../contextAt.ts";
import { ESCROW, NOBODY, wallet } from "../eventLog.ts";

const [BUYER, SELLER, PAYEE, KEEPER, OTHER] = [2, 1, 30, 40, 9].map(wallet) as [
  string,
  string,
  string,
  string,
  string,
];
const BLOCK = 20;

/** An escrow whose seller gets 70, its buyer 25 and the recipient of fees 5. */
const terms = {
  ...emptyRow("escrow"),
  ...{ id: "0x01", provider: "p", escrow: ESCROW, hireId: "0x02", seller: SELLER, buyer: BUYER },
  ...{ payee: PAYEE, amount: 100n, feeRecipient: KEEPER, arbiter: NOBODY, tx: "0x03" },
  ...{ status: "released", toSeller: 75n, toBuyer: 25n, feePaid: 5n },
} as const;

/** Settles an escrow at this log of the block. */
function settled(context: ApplyContext, log: number | null, more: object = {}): ApplyContext {
  const row = { ...terms, ...more };
  context.store.insert("escrow", row as never);
  const at = { ...context, at: { ...context.at, block: BLOCK, log } };
  noteSettlement(at, row as never);
  return at;
}

describe("the payer of a transfer that leaves an escrow contract", () => {
  const context = () => settled(contextAt(BLOCK, 4), 4);
  const pay = (to: string, value: bigint, more = {}, it = context()) =>
    payerOf(it, { from: ESCROW, to, value, block: BLOCK, log: 5, ...more });

  it("is the escrow's buyer, if the transfer is what the payee, the recipient of fees or the buyer gets", () => {
    expect(pay(PAYEE, 70n)).to.equal(BUYER);
    expect(pay(KEEPER, 5n)).to.equal(BUYER);
    expect(pay(BUYER, 25n)).to.equal(BUYER);
  });

  it("is unknown for another receiver or another amount", () => {
    for (const value of [69n, 71n, 75n, 80n, 5n, 25n])
      expect(pay(PAYEE, value), String(value)).to.equal(null);
    for (const value of [4n, 6n, 70n]) expect(pay(KEEPER, value), String(value)).to.equal(null);
    for (const value of [24n, 26n, 70n]) expect(pay(BUYER, value), String(value)).to.equal(null);
    for (const value of [70n, 75n]) expect(pay(SELLER, value), String(value)).to.equal(null);
    for (const value of [70n, 25n, 5n]) expect(pay(OTHER, value), String(value)).to.equal(null);
  });

  it("is known by the seller's address, if the escrow names no payee", () => {
    const without = () => settled(contextAt(BLOCK, 4), 4, { payee: NOBODY });
    expect(pay(SELLER, 70n, {}, without())).to.equal(BUYER);
    expect(pay(NOBODY, 70n, {}, without())).to.equal(null);
  });

  it("is looked for only after the settlement, in its block, at its contract", () => {
    expect(pay(PAYEE, 70n, { log: 4 })).to.equal(null);
    expect(pay(PAYEE, 70n, { log: 99 })).to.equal(BUYER);
    expect(pay(PAYEE, 70n, { block: BLOCK + 1 })).to.equal(null);
    expect(pay(PAYEE, 70n, { from: OTHER })).to.equal(null);
    const late = settled(contextAt(BLOCK, 40), 40);
    expect(pay(PAYEE, 70n, { log: 5 }, late)).to.equal(null);
    expect(pay(PAYEE, 70n, { log: 41 }, late)).to.equal(BUYER);
    // A settlement without a log number is at the beginning of its block.
    const first = settled(contextAt(BLOCK, 4), null);
    expect(pay(PAYEE, 70n, { log: 1 }, first)).to.equal(BUYER);
    expect(pay(PAYEE, 70n, { log: 0 }, first)).to.equal(null);
  });

  it("is the buyer of the escrow that was settled last before the transfer", () => {
    const two = () => settled(context(), 8, { id: "0x04", buyer: OTHER });
    expect(pay(PAYEE, 70n, { log: 8 }, two())).to.equal(BUYER);
    expect(pay(PAYEE, 70n, { log: 9 }, two())).to.equal(OTHER);
    expect(pay(BUYER, 25n, { log: 9 }, two())).to.equal(null);
  });

  it("is unknown while nothing is paid to the seller, and for an escrow without a row", () => {
    const back = () => settled(contextAt(BLOCK, 4), 4, { toSeller: null, toBuyer: 100n, feePaid: 0n });
    expect(pay(BUYER, 100n, {}, back())).to.equal(BUYER);
    expect(pay(PAYEE, 100n, {}, back())).to.equal(null);
    const none = contextAt(BLOCK, 4);
    noteSettlement(none, { id: "0x09", escrow: ESCROW } as never);
    expect(pay(PAYEE, 70n, {}, none)).to.equal(null);
  });
});
