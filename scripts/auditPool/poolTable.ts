import { formatUsdc } from "tallystick-protocol/amount";
import { auditParamsSchema } from "tallystick-protocol/records/auditParams";
import type { Market } from "./market.ts";
import { type PoolFigures, type SimulateParameters, simulatePool } from "./simulatePool.ts";

/** The settings of a simulation. Rules that are not set have their default values. */
export type PoolSettings = Omit<SimulateParameters, "market"> & {
  market: Omit<Market, "rules" | "colluders" | "trueNegative"> & { rules?: Partial<Market["rules"]> };
  /** Shares of colluders, and true-negative rates of honest auditors. Each pair of them gives one row. */
  colluding: readonly number[];
  trueNegatives: readonly number[];
};

export type PoolRow = PoolFigures & { colluding: number; trueNegative: number };

export const POOL_DEFAULTS: PoolSettings = {
  market: {
    tickSeconds: 300,
    hiresPerTick: 1,
    priceAtomic: 500_000n,
    buyers: 50,
    auditors: 20,
    areLinked: false,
    truePositive: 0.96,
    inconclusive: 0.02,
    unanswered: 0.02,
  },
  garbage: [0.05, 0.2, 1],
  colluding: [0, 0.1, 0.2, 0.3, 0.4],
  trueNegatives: [0.25, 0.75, 0.95],
  seed: 1,
  sellers: 200,
  maxHires: 200_000,
  goodHires: 200_000,
};

/** Simulates each pair of a share of colluders and a true-negative rate, and gives its row. */
export function* poolRows({
  market,
  colluding,
  trueNegatives,
  ...parameters
}: PoolSettings): Generator<PoolRow> {
  const rules = { ...auditParamsSchema.parse({}), ...market.rules };
  for (const share of colluding)
    for (const trueNegative of trueNegatives) {
      const colluders = Math.round(share * market.auditors);
      const figures = simulatePool({ ...parameters, market: { ...market, rules, colluders, trueNegative } });
      yield { colluding: share, trueNegative, ...figures };
    }
}

/** The rows as a Markdown table. */
export function poolTable(garbage: readonly number[], rows: readonly PoolRow[]): string {
  const heads = [
    ...["colluders", "true negatives"],
    ...garbage.map((share) => `${percent(share)} garbage`),
    ...["false challenges per 1,000", "cost of 1,000 hires"],
  ];
  const lines = rows.map(({ colluding, trueNegative, caught, falseChallenges, costAtomic }) => [
    percent(colluding),
    percent(trueNegative),
    ...caught.map(({ median, ninety }) => `${count(median)} · ${count(ninety)}`),
    falseChallenges.toFixed(1),
    `${formatUsdc(costAtomic)} USDC`,
  ]);
  const rule = heads.map((_, n) => (n === 0 ? "---" : "---:"));
  return [heads, rule, ...lines].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

const percent = (share: number): string => `${Math.round(share * 1_000) / 10} %`;
const count = (hires: number | null): string => (hires === null ? "never" : hires.toLocaleString("en-US"));
