import { expect } from "chai";
import { arrivedBefore, arrivedNow, hadBefore, noteArrival } from "tallystick-derive/families/arrivals";
import { listLength } from "tallystick-derive/lists";
import { contextAt, FORMS, type Form } from "../contextAt.ts";
import { wallet } from "../eventLog.ts";

const [BUYER, FUNDER] = [wallet(2), wallet(50)];

/** A context with these arrivals at the buyer, each `[block, log, value]`. */
function arrived(form: Form, list: [block: number, log: number, value: number, more?: object][]) {
  const context = contextAt(9, 0, { form });
  for (const [block, log, value, more] of list) {
    const { from = FUNDER, isFull = false } = (more ?? {}) as { from?: string; isFull?: boolean };
    noteArrival(context, BUYER, { from, block, log, value: BigInt(value) }, isFull);
  }
  return context;
}

/** What had reached the buyer in the block before this place, after these arrivals. */
function arrivedUpTo(
  form: Form,
  block: number,
  log: number,
  list: Parameters<typeof arrived>[1],
): bigint | null {
  return arrivedBefore(arrived(form, list), BUYER, { block, log });
}

for (const form of FORMS)
  describe(`money that reaches a wallet in a block, in a log of ${form} transfers`, () => {
    it("is the sum of the block's earlier transfers", () => {
      expect(arrivedUpTo(form, 10, 5, [])).to.equal(0n);
      expect(arrivedUpTo(form, 10, 5, [[10, 1, 3]])).to.equal(3n);
      expect(
        arrivedUpTo(form, 10, 5, [
          [10, 1, 3],
          [10, 4, 4],
        ]),
      ).to.equal(7n);
    });

    it("does not include money of an earlier block", () => {
      expect(arrivedUpTo(form, 11, 5, [[10, 1, 3]])).to.equal(0n);
      expect(
        arrivedUpTo(form, 11, 5, [
          [10, 1, 3],
          [11, 1, 4],
        ]),
      ).to.equal(4n);
    });

    it("does not include transfers of nothing, or from the wallet itself", () => {
      const own = { from: BUYER };
      expect(arrivedUpTo(form, 10, 5, [[10, 1, 3, own]])).to.equal(0n);
      expect(
        arrivedUpTo(form, 10, 5, [
          [10, 1, 3],
          [10, 2, 0],
          [10, 3, 9, own],
        ]),
      ).to.equal(3n);
    });

    it("is unknown from the transfer on with which too many have reached the wallet, whatever it moves", () => {
      for (const more of [{}, { from: BUYER }])
        for (const value of [0, 7]) {
          const last = { ...more, isFull: true };
          expect(arrivedUpTo(form, 10, 5, [[10, 4, value, last]])).to.equal(null);
          expect(arrivedUpTo(form, 99, 0, [[10, 4, value, last]])).to.equal(null);
        }
      const none = arrived(form, [[10, 4, 7, { isFull: true }]]);
      if (form === "all") expect(arrivedNow(none, BUYER, 10)).to.equal(null);
    });

    it("counts again from zero when the limit was raised after it", () => {
      const full = { isFull: true };
      expect(
        arrivedUpTo(form, 10, 9, [
          [10, 1, 3],
          [10, 4, 7, full],
          [10, 5, 2],
        ]),
      ).to.equal(2n);
      expect(
        arrivedUpTo(form, 10, 9, [
          [10, 4, 7, full],
          [10, 5, 2],
          [10, 6, 5],
        ]),
      ).to.equal(7n);
      expect(
        arrivedUpTo(form, 10, 9, [
          [10, 4, 7, full],
          [10, 5, 2],
          [10, 6, 5, full],
        ]),
      ).to.equal(null);
      // What brings nothing does not count, so the money stays unknown.
      for (const [value, more] of [
        [0, {}],
        [9, { from: BUYER }],
      ] as const)
        expect(
          arrivedUpTo(form, 10, 9, [
            [10, 4, 7, full],
            [10, 5, value, more],
          ]),
        ).to.equal(null);
    });
  });

describe("money that reaches a wallet, in a log of relevant transfers", () => {
  it("is known for every earlier place", () => {
    const list: Parameters<typeof arrived>[1] = [
      [10, 1, 3],
      [10, 4, 4],
      [12, 0, 5],
      [13, 2, 6, { isFull: true }],
    ];
    const places: [number, number, bigint | null][] = [
      [9, 9, 0n],
      [10, 1, 0n],
      [10, 2, 3n],
      [10, 4, 3n],
      [10, 5, 7n],
      [11, 0, 0n],
      [12, 0, 0n],
      [12, 1, 5n],
      [13, 2, 0n],
      [13, 3, null],
      [14, 0, null],
    ];
    for (const [block, log, sum] of places)
      expect(arrivedUpTo("relevant", block, log, list), `${block} ${log}`).to.equal(sum);
  });

  it("takes no more lines once there are too many transfers", () => {
    const full = { isFull: true };
    const context = arrived("relevant", [
      [10, 1, 3],
      [10, 4, 4, full],
      [10, 5, 4, full],
      [11, 0, 4, full],
    ]);
    expect(listLength(context.store, `arrived/${BUYER}`)).to.equal(2);
  });
});

describe("the part of a price that a buyer had before the block", () => {
  const hire = (price: number) => ({ buyer: BUYER, price: BigInt(price) });

  it("is the whole price if nothing had arrived, and nothing if what arrived is unknown", () => {
    const context = contextAt(9, 0);
    expect(hadBefore(context, hire(10), { block: 9, log: 1, arrived: 0n })).to.equal(10n);
    expect(hadBefore(context, hire(10), { block: 9, log: 1, arrived: null })).to.equal(0n);
    expect(listLength(context.store, `paidInBlock/${BUYER}/9`)).to.equal(0);
  });

  it("is looked up if the place does not say what had arrived", () => {
    for (const form of FORMS) {
      const context = arrived(form, [[9, 0, 4]]);
      expect(hadBefore(context, hire(10), { block: 9, log: 1 })).to.equal(6n);
      expect(hadBefore(context, hire(10), { block: 10, log: 1 })).to.equal(10n);
    }
  });

  it("is only what this payment adds to the least money that all payments of the block need", () => {
    const context = contextAt(9, 0);
    const pay = (log: number, price: number, arrived: bigint, block = 9) =>
      hadBefore(context, hire(price), { block, log, arrived });
    expect(pay(2, 10, 4n)).to.equal(6n);
    // Fifteen more arrived before this payment, so the ten of the first and these ten need one.
    expect(pay(7, 10, 19n)).to.equal(0n);
    // A receipt that comes late: the payment was between both, and needs ten more at its place and after it.
    expect(pay(4, 10, 5n)).to.equal(9n);
    expect(pay(2, 10, 4n, 10)).to.equal(6n);
  });

  it("compares a payment with at most sixteen others", () => {
    const context = contextAt(9, 0);
    const pay = (log: number) => hadBefore(context, hire(10), { block: 9, log, arrived: 100n });
    const parts = Array.from({ length: 18 }, (_, n) => pay(n + 1));
    expect(parts.slice(0, 10).every((it) => it === 0n)).to.equal(true);
    // The payments after the sixteenth are all compared with the first sixteen, and not with one another.
    expect(parts.slice(10)).to.deep.equal(Array(8).fill(10n));
    expect(listLength(context.store, `paidInBlock/${BUYER}/9`)).to.equal(16);
  });
});
