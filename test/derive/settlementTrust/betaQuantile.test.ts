import { expect } from "chai";
import fc from "fast-check";
import { betaQuantile } from "tallystick-derive/settlementTrust/betaQuantile";
import { isPercentile, shareBelow } from "./quantileOracle.ts";

/** Percentiles from mpmath 1.3.0 with 40 digits: the root of betainc(alpha, beta, 0, x, regularized=True) = 1/20. */
const KNOWN: [alpha: number, beta: number, percentile: number][] = [
  [1, 2, 25_320_566],
  [8, 2, 570_864_453],
  [9, 2, 605_836_698],
  [23, 2, 817_107_530],
  [24, 2, 823_879_289],
  [57, 2, 920_802_189],
  [101, 2, 954_336_404],
  [1001, 2, 995_274_440],
  [1, 1002, 51_190],
  [501, 502, 473_544_621],
  [900, 103, 881_111_349],
  [100, 903, 84_614_208],
  [990, 13, 980_668_320],
];

describe("the 5th percentile of a Beta distribution", () => {
  it("equals the result of another formula in exact fractions", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60 }), fc.integer({ min: 2, max: 60 }), (alpha, beta) => {
        expect(isPercentile(alpha, beta, betaQuantile(alpha, beta))).to.equal(true);
      }),
      {
        numRuns: 60,
        examples: [
          [1, 2],
          [1, 60],
          [60, 2],
          [60, 60],
        ],
      },
    );
  });

  it("has an oracle that notices a wrong last digit", () => {
    const figure = betaQuantile(24, 2);
    for (const wrong of [figure - 1, figure + 1]) expect(isPercentile(24, 2, wrong)).to.equal(false);
    // Beta(1, 1) is uniform: the share below x is x.
    expect(shareBelow(1, 1, [3n, 7n]).map(String)).to.deep.equal(["3", "7"]);
  });

  it("equals the result of a library of arbitrary precision, up to the largest parameters", () => {
    for (const [alpha, beta, percentile] of KNOWN)
      expect(betaQuantile(alpha, beta), `Beta(${alpha}, ${beta})`).to.equal(percentile);
  });

  it("is the same if the computation begins with too few bits, and continues with more", () => {
    for (const [alpha, beta, percentile] of KNOWN.slice(0, 7))
      for (const bits of [1n, 30n])
        expect(betaQuantile(alpha, beta, bits), `Beta(${alpha}, ${beta})`).to.equal(percentile);
  });

  it("rises with every success and falls with every failure", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 990 }), fc.integer({ min: 2, max: 990 }), (alpha, beta) => {
        const here = betaQuantile(alpha, beta);
        expect(betaQuantile(alpha + 1, beta)).to.be.greaterThan(here);
        expect(betaQuantile(alpha, beta + 1)).to.be.lessThan(here);
      }),
      { numRuns: 12 },
    );
  });

  it("refuses parameters that are not whole numbers, or are too small", () => {
    for (const [alpha, beta] of [
      [0, 2],
      [1, 1],
      [1.5, 2],
      [Number.NaN, 2],
      [1, 2.5],
      [1, Number.NaN],
    ] as const)
      expect(() => betaQuantile(alpha, beta)).to.throw(RangeError, `Beta(${alpha}, ${beta})`);
  });
});
