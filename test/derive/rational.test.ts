import { expect } from "chai";
import fc from "fast-check";
import {
  add,
  compare,
  formatRational,
  multiply,
  parseRational,
  rational,
  roundHalfUp,
  subtract,
  toNumber,
} from "tallystick-derive/rational";

const anyRational = fc
  .tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.bigInt({ min: 1n, max: 10n ** 20n }))
  .map(([n, d]) => rational(n, d));

describe("exact fractions", () => {
  it("add, subtract and multiply like the numbers that they represent", () => {
    fc.assert(
      fc.property(anyRational, anyRational, (a, b) => {
        const sum = add(a, b);
        expect(sum.n * a.d * b.d).to.equal((a.n * b.d + b.n * a.d) * sum.d);
        expect(subtract(sum, b)).to.deep.equal(a);
        expect(multiply(a, b)).to.deep.equal(rational(a.n * b.n, a.d * b.d));
        expect(Math.sign(compare(a, b))).to.equal(-Math.sign(compare(b, a)));
        expect(parseRational(formatRational(a))).to.deep.equal(a);
      }),
    );
  });

  it("never drift: fifty fifths are ten, and 108 of 120 sixths are nine tenths", () => {
    let sum = rational(0n);
    for (let n = 0; n < 50; n++) sum = add(sum, rational(1n, 5n));
    expect(formatRational(sum)).to.equal("10");
    expect(compare(rational(108n, 6n), multiply(rational(120n, 6n), rational(9n, 10n)))).to.equal(0);
  });

  it("stay exact for the weights of a ring that had ten thousand sizes", () => {
    let sum = rational(0n);
    for (let n = 1n; n <= 10_000n; n++) sum = add(sum, rational(1n, n));
    expect(sum.d.toString().length).to.be.above(4_000);
    for (let n = 10_000n; n > 1n; n--) sum = subtract(sum, rational(1n, n));
    expect(sum).to.deep.equal({ n: 1n, d: 1n });
  });

  it("round half up, only at the last step", () => {
    expect(toNumber(rational(2n, 3n))).to.equal(0.666666667);
    expect(toNumber(rational(5n, 10_000_000_000n))).to.equal(0.000000001);
    expect(toNumber(rational(49n, 100_000_000_000n))).to.equal(0);
    expect(roundHalfUp(rational(5n, 2n), 0)).to.equal(3n);
  });

  it("become the number that their nine decimals give", () => {
    const part = fc.oneof(fc.bigInt({ min: 0n, max: 10n ** 30n }), fc.bigInt({ min: 0n, max: 5_000n }));
    const whole = fc.oneof(fc.bigInt({ min: 1n, max: 10n ** 20n }), fc.bigInt({ min: 1n, max: 5_000n }));
    fc.assert(
      fc.property(part, whole, (n, d) => {
        const digits = roundHalfUp({ n, d }, 9).toString().padStart(10, "0");
        expect(toNumber({ n, d })).to.equal(Number(`${digits.slice(0, -9)}.${digits.slice(-9)}`));
      }),
      { numRuns: 1_000 },
    );
  });

  it("refuse a denominator of zero", () => {
    expect(() => rational(1n, 0n)).to.throw(RangeError);
  });
});
