import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { auditParamsSchema } from "tallystick-protocol/records/auditParams";
import { feesOf } from "../../../scripts/auditPool/feesOf.ts";
import type { Market, Word } from "../../../scripts/auditPool/market.ts";
import {
  POOL_DEFAULTS,
  type PoolSettings,
  poolRows,
  poolTable,
} from "../../../scripts/auditPool/poolTable.ts";
import { withPoolTable } from "../../../scripts/auditPool/withPoolTable.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

const small: PoolSettings = { ...POOL_DEFAULTS, sellers: 60, goodHires: 60_000, garbage: [1] };
const certain = { truePositive: 1, inconclusive: 0, unanswered: 0 };
const rowsOf = (more: Partial<PoolSettings>, market: Partial<PoolSettings["market"]> = {}) => [
  ...poolRows({ ...small, ...more, market: { ...small.market, ...market } }),
];

describe("the simulation of the audit pool", () => {
  it("gives the table of the document", () => {
    const text = readFileSync(path.join(repositoryRoot, "docs/audit-network.md"), "utf8");
    // The rows of poor judges take long to compute. AUDIT_POOL=1 computes all of them.
    const isWhole = process.env.AUDIT_POOL === "1";
    const trueNegatives = isWhole ? POOL_DEFAULTS.trueNegatives : POOL_DEFAULTS.trueNegatives.slice(1);
    const rows = [...poolRows({ ...POOL_DEFAULTS, trueNegatives })];
    const lines = poolTable(POOL_DEFAULTS.garbage, rows).split("\n");
    expect(text.split("\n")).to.include.members([...lines, `Seed ${POOL_DEFAULTS.seed}.`]);
    if (isWhole) expect(withPoolTable(text, POOL_DEFAULTS, rows)).to.equal(text);
  });

  it("gives the same result for a seed, and another one for another seed", () => {
    const one = { colluding: [0.2], trueNegatives: [0.75] };
    expect(rowsOf({ ...one, seed: 7 })).to.deep.equal(rowsOf({ ...one, seed: 7 }));
    expect(rowsOf({ ...one, seed: 7 })).not.to.deep.equal(rowsOf({ ...one, seed: 8 }));
  });

  it("finds bad work with the probability of the rate if nobody errs", () => {
    // All work is garbage, and every auditor notices this. So the first drawn hire is caught. In the median that is
    // after log 0.5 / log 0.97 = 22.8 hires and two rounds.
    const [row] = rowsOf({ colluding: [0], trueNegatives: [1], sellers: 1_000 }, certain);
    expect(row?.caught[0]?.median).to.be.within(20, 28);
    expect(row?.caught[0]?.ninety).to.be.within(68, 86);
    expect(row?.falseChallenges).to.equal(0);
    // 30 of 1,000 hires are drawn, and a tenth of them twice, at 0.005 USDC each.
    expect(Number(row?.costAtomic)).to.be.within(155_000, 175_000);
  });

  it("finds no bad work without draws, or if everybody lies", () => {
    const [undrawn] = rowsOf(
      { colluding: [0], trueNegatives: [1], maxHires: 2_000 },
      { ...certain, rules: { ratePpm: 0 } },
    );
    expect(undrawn).to.deep.include({ falseChallenges: 0, costAtomic: 0n });
    expect(undrawn?.caught[0]).to.deep.equal({ median: null, ninety: null });
    const [lied] = rowsOf({ colluding: [1], trueNegatives: [1], maxHires: 2_000 });
    expect(lied?.caught[0]).to.deep.equal({ median: null, ninety: null });
    expect(lied?.falseChallenges).to.equal(1_000);
  });

  it("fails good work as often as two auditors of three err", () => {
    // One of five verdicts is wrong. Good work fails after the verdicts fail-fail or fail-pass-fail. Passed work is not
    // judged again.
    const [row] = rowsOf(
      { colluding: [0], trueNegatives: [1], goodHires: 400_000 },
      { ...certain, truePositive: 0.8, auditors: 200, rules: { recheckPpm: 0 } },
    );
    expect(row?.falseChallenges).to.be.within(65, 79);
  });

  it("does not let colluding auditors confirm a fail of good work if the second auditor must be a stranger", () => {
    const of = (areLinked: boolean) =>
      rowsOf({ colluding: [0.4], trueNegatives: [0.95] }, { ...certain, areLinked })[0]?.falseChallenges;
    expect(of(false)).to.be.above(150);
    expect(of(true)).to.equal(0);
  });
});

describe("the debt of a pool for an audit", () => {
  const owed = (status: string, words: Word[], priceAtomic = 500_000n) => {
    const fees = [
      { fromAtomic: "0", feeAtomic: "5000" },
      { fromAtomic: "1000000", feeAtomic: "20000" },
    ];
    const asked = words.map((word, id) => ({ auditor: { id, isColluder: false }, round: id + 1, word }));
    const rules = auditParamsSchema.parse({ fees });
    return feesOf({ status: status as "failed", asked }, { priceAtomic, rules } satisfies Partial<Market>);
  };

  it("is a fee for each verdict, by the hire's price, and three fees for the first confirmed fail", () => {
    expect(owed("passed", ["pass"])).to.equal(5_000n);
    expect(owed("passed", ["pass"], 999_999n)).to.equal(5_000n);
    expect(owed("passed", ["pass"], 1_000_000n)).to.equal(20_000n);
    expect(owed("passed", ["fail", "pass", "pass"])).to.equal(15_000n);
    expect(owed("failed", ["fail", "fail"])).to.equal(20_000n);
    expect(owed("failed", ["pass", "fail", "fail"])).to.equal(25_000n);
  });

  it("is nothing for silence; it includes an inconclusive verdict only if the next auditor cannot decide either", () => {
    expect(owed("passed", [null, "pass"])).to.equal(5_000n);
    expect(owed("passed", ["inconclusive", "pass"])).to.equal(5_000n);
    expect(owed("inconclusive", ["inconclusive", "inconclusive", "inconclusive"])).to.equal(10_000n);
    expect(owed("inconclusive", ["inconclusive", null, "inconclusive"])).to.equal(5_000n);
  });
});
