import { expect } from "chai";
import fc from "fast-check";
import { logarithm } from "tallystick-derive/steward/logarithms";
import { NANO, nanoOf } from "tallystick-derive/steward/nano";
import {
  endorsementsOf,
  type Factors,
  freshnessOf,
  lessDenials,
  ownTrustOf,
  scoreOf,
} from "tallystick-derive/steward/score";
import {
  hasEnoughData,
  STEWARD_TIERS,
  shareText,
  stewardTierOf,
  type TierFigures,
} from "tallystick-derive/steward/stewardTier";

/** log10(n) to forty digits, by ln((1+z)/(1−z)) = 2·Σ z^(2k+1)/(2k+1) in big integers. */
function logarithmOf(n: number): bigint {
  const one = 10n ** 45n;
  const ln = (numerator: bigint, denominator: bigint) => {
    const z = ((numerator - denominator) * one) / (numerator + denominator);
    let [sum, power] = [0n, z];
    for (let k = 1n; power !== 0n; k += 2n, power = (((power * z) / one) * z) / one) sum += power / k;
    return 2n * sum;
  };
  // Each step has a small ratio, so its series has few terms.
  const steps = (m: number) => {
    let sum = 0n;
    for (let k = 1; k < m; k++) sum += ln(BigInt(k + 1), BigInt(k));
    return sum;
  };
  return (steps(n) * one) / steps(10);
}

describe("the arithmetic of the trust score", () => {
  it("has a table of logarithms that equals a computation with big numbers, to 10⁻¹⁵", () => {
    for (let n = 1; n <= 65; n++) {
      const error = logarithm(n) * 10n ** 30n - logarithmOf(n);
      expect(error < 0n ? -error : error, `log10(${n})`).to.satisfy((it: bigint) => it <= 10n ** 30n);
    }
    for (const n of [0, 66, 1.5]) expect(() => logarithm(n)).to.throw(RangeError);
  });

  it("rounds half up at nine decimals", () => {
    expect([
      nanoOf(1n, 3n),
      nanoOf(2n, 3n),
      nanoOf(1n, 2n * 10n ** 9n),
      nanoOf(499_999_999n, 10n ** 18n),
    ]).to.deep.equal([333_333_333, 666_666_667, 1, 0]);
  });

  it("gives the paper's factors by its formulas", () => {
    expect(nanoOf(369n, 383n)).to.equal(963_446_475);
    expect(nanoOf(720n * 12n - 86n, 720n * 12n), "7.2 h are 86.4 slots").to.equal(990_046_296);
    expect(nanoOf(1223n, 1247n)).to.equal(980_753_809);
    expect([0, 2, 12, 23, 24, 25].map(freshnessOf)).to.deep.equal([
      NANO,
      916_666_667,
      NANO / 2,
      41_666_667,
      0,
      0,
    ]);
    const counted = Array.from({ length: 52 }, (_, n) => ({ party: String(n % 42), trust: 850_000_000 }));
    const { value, unique, average } = endorsementsOf(counted);
    expect([value, unique, average]).to.deep.equal([720_865_385, 42, 850_000_000]);
    expect(endorsementsOf([]).value).to.equal(0);
    const one = (n: number) =>
      endorsementsOf(Array.from({ length: n }, (_, at) => ({ party: `${at}`, trust: NANO }))).value;
    expect([1, 5, 10, 33, 34, 64].map(one)).to.deep.equal([
      177_183_820, 458_013_531, 612_955_310, 900_000_000, 900_000_000, 900_000_000,
    ]);
  });

  it("sums the paper's worked example to .932019, not to the .9465 that the paper gives", () => {
    const counted = Array.from({ length: 52 }, (_, n) => ({ party: String(n % 42), trust: 850_000_000 }));
    const paper: Factors = {
      test_coverage: 963_446_475,
      uptime: 990_000_000,
      success_rate: 980_753_809,
      endorsements: endorsementsOf(counted).value,
      attestation_freshness: freshnessOf(2),
    };
    expect(scoreOf(paper)).to.equal(932_018_869);
    // The sum of the values that the paper prints, for its 52 endorsements. The paper prints another sum than these two.
    const printed = {
      ...paper,
      test_coverage: 960_000_000,
      success_rate: 980_000_000,
      endorsements: 870_000_000,
      attestation_freshness: 950_000_000,
    };
    expect(scoreOf(printed)).to.equal(956_500_000);
  });

  it("counts endorsers of one buyer group as one, with the lowest trust", () => {
    const { unique, average } = endorsementsOf([
      { party: "a", trust: 900_000_000 },
      { party: "a", trust: 100_000_000 },
      { party: "b", trust: 500_000_000 },
    ]);
    expect([unique, average]).to.deep.equal([2, 300_000_000]);
  });

  it("gives a score of 0 if no factor has a weight", () => {
    const factors: Factors = {
      ...{ test_coverage: NANO, uptime: NANO, success_rate: NANO },
      ...{ endorsements: NANO, attestation_freshness: NANO },
    };
    const none = { test_coverage: 0, uptime: 0, success_rate: 0, attestation_freshness: 0 };
    expect(scoreOf(factors, { ...none, endorsements: 0 })).to.equal(0);
    expect(scoreOf(factors, { ...none, endorsements: 7 })).to.equal(NANO);
    expect(ownTrustOf(factors, { ...none, endorsements: 7 }), "no other factor").to.equal(0);
  });

  it("writes a score with nine decimals", () => {
    expect([0, 5, 932_018_869, NANO].map(shareText)).to.deep.equal([
      ...["0.000000000", "0.000000005", "0.932018869", "1.000000000"],
    ]);
  });

  it("gives an endorser's endorsement a value that does not depend on endorsements of the endorser", () => {
    const factors: Factors = {
      test_coverage: NANO,
      uptime: 0,
      success_rate: NANO,
      endorsements: 0,
      attestation_freshness: 0,
    };
    expect(ownTrustOf(factors)).to.equal(647_058_824);
    fc.assert(
      fc.property(fc.integer({ min: 0, max: NANO }), (endorsements) => {
        expect(ownTrustOf({ ...factors, endorsements })).to.equal(647_058_824);
      }),
    );
  });

  it("subtracts .05 for each slot that an agent denies, at most .2, and never goes below 0", () => {
    expect([0, 1, 4, 5, 300].map((n) => lessDenials(500_000_000, n))).to.deep.equal([
      500_000_000, 450_000_000, 300_000_000, 300_000_000, 300_000_000,
    ]);
    expect(lessDenials(100_000_000, 3)).to.equal(0);
  });
});

describe("tiers of the trust score", () => {
  const best: TierFigures = {
    score: NANO,
    uptime: { 7: { data: 2016, down: 0 }, 30: { data: 8640, down: 0 }, 90: { data: 25_920, down: 0 } },
    tests: { passing: 1_000, total: 1_000 },
    endorsements: 51,
    successesAbove: (count) => 1_001 > count,
  };
  const tier = (change: Partial<TierFigures>) => STEWARD_TIERS[stewardTierOf({ ...best, ...change })]?.name;
  const up = (days: 7 | 30 | 90, data: number, down: number) => ({
    uptime: { ...best.uptime, [days]: { data, down } },
  });

  const edges: [
    what: string,
    is: Partial<TierFigures>,
    not: Partial<TierFigures>,
    above: string,
    below: string,
  ][] = [
    ["score .95", { score: 950_000_000 }, { score: 949_999_999 }, "HIGHLY_TRUSTED", "TRUSTED"],
    ["score .8", { score: 800_000_000 }, { score: 799_999_999 }, "TRUSTED", "VERIFIED"],
    ["score .5", { score: 500_000_000 }, { score: 499_999_999 }, "VERIFIED", "UNVERIFIED"],
    ["uptime_90d above 99 %", up(90, 20_000, 199), up(90, 20_000, 200), "HIGHLY_TRUSTED", "TRUSTED"],
    ["uptime_30d above 95 %", up(30, 8_000, 399), up(30, 8_000, 400), "HIGHLY_TRUSTED", "VERIFIED"],
    ["uptime_7d above 90 %", up(7, 2_000, 199), up(7, 2_000, 200), "HIGHLY_TRUSTED", "UNVERIFIED"],
    ["data for ¾ of 7 days", up(7, 1_512, 0), up(7, 1_511, 0), "HIGHLY_TRUSTED", "UNVERIFIED"],
    ["data for ¾ of 30 days", up(30, 6_480, 0), up(30, 6_479, 0), "HIGHLY_TRUSTED", "VERIFIED"],
    ["data for ¾ of 90 days", up(90, 19_440, 0), up(90, 19_439, 0), "HIGHLY_TRUSTED", "TRUSTED"],
    [
      "coverage above 90 %",
      { tests: { passing: 901, total: 1_000 } },
      { tests: { passing: 900, total: 1_000 } },
      "HIGHLY_TRUSTED",
      "TRUSTED",
    ],
    [
      "coverage above 80 %",
      { tests: { passing: 801, total: 1_000 } },
      { tests: { passing: 800, total: 1_000 } },
      "TRUSTED",
      "VERIFIED",
    ],
    [
      "coverage above 50 %",
      { tests: { passing: 501, total: 1_000 } },
      { tests: { passing: 500, total: 1_000 } },
      "VERIFIED",
      "UNVERIFIED",
    ],
    ["more than 50 endorsements", { endorsements: 51 }, { endorsements: 50 }, "HIGHLY_TRUSTED", "TRUSTED"],
    ["more than 10 endorsements", { endorsements: 11 }, { endorsements: 10 }, "TRUSTED", "VERIFIED"],
    ["more than 3 endorsements", { endorsements: 4 }, { endorsements: 3 }, "VERIFIED", "UNVERIFIED"],
    [
      "more than 1000 successes",
      { successesAbove: (n) => 1_001 > n },
      { successesAbove: (n) => 1_000 > n },
      "HIGHLY_TRUSTED",
      "TRUSTED",
    ],
    [
      "more than 100 successes",
      { successesAbove: (n) => 101 > n },
      { successesAbove: (n) => 100 > n },
      "TRUSTED",
      "VERIFIED",
    ],
  ];
  for (const [what, is, not, above, below] of edges) {
    it(`need ${what}, exactly`, () => expect([tier(is), tier(not)]).to.deep.equal([above, below]));
  }

  it("need three quarters of a window's slots", () => {
    expect([hasEnoughData(1_512, 7), hasEnoughData(1_511, 7)]).to.deep.equal([true, false]);
  });
});
