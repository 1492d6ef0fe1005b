import { feesOf } from "./feesOf.ts";
import type { Market, PoolAudit } from "./market.ts";
import { PoolModel } from "./poolModel.ts";
import { seededChance, seedOf } from "./seededChance.ts";

/**
 * How many hires a seller of garbage sold until its first confirmed fail: the median and the 90th percentile. Null if
 * that seller had no confirmed fail within the most simulated hires.
 */
export type Caught = { median: number | null; ninety: number | null };

export type PoolFigures = {
  /** One for each share of garbage, in the order of the parameter `garbage`. */
  caught: Caught[];
  /** Confirmed fails in 1,000 audits of good work. */
  falseChallenges: number;
  /** The cost of 1,000 hires of a good seller for the pool, in atomic units. */
  costAtomic: bigint;
};

export type SimulateParameters = {
  market: Market;
  /** The shares of garbage, from 0 to 1. */
  garbage: readonly number[];
  seed: number;
  /** How many sellers are simulated for each share of garbage. */
  sellers: number;
  /** The most simulated hires of one seller. */
  maxHires: number;
  /** How many hires of a good seller are simulated. */
  goodHires: number;
};

/** Simulates a market. The same parameters always give the same figures. */
export function simulatePool(parameters: SimulateParameters): PoolFigures {
  const { garbage } = parameters;
  return { caught: garbage.map((share) => catchSellers(parameters, share)), ...judgeGoodWork(parameters) };
}

function catchSellers({ market, seed, sellers, maxHires }: SimulateParameters, share: number): Caught {
  const counts: number[] = [];
  for (let n = 0; n < sellers; n++) {
    const chance = seededChance(market, share, seedOf(seed, "garbage", share, n));
    let isCaught = false;
    const model = new PoolModel(market, chance, ({ isGarbage, status }) => {
      if (isGarbage && status === "failed") isCaught = true;
    });
    while (!isCaught && model.hires < maxHires) model.advance();
    counts.push(isCaught ? model.hires : Number.POSITIVE_INFINITY);
  }
  counts.sort((a, b) => a - b);
  return { median: quantile(counts, 50), ninety: quantile(counts, 90) };
}

/** The percentile of sorted numbers, by nearest rank. */
function quantile(sorted: number[], percent: number): number | null {
  const found = sorted[Math.ceil((sorted.length * percent) / 100) - 1];
  return found === undefined || found === Number.POSITIVE_INFINITY ? null : found;
}

function judgeGoodWork({ market, seed, goodHires }: SimulateParameters) {
  let [ended, failed, cost] = [0, 0, 0n];
  const note = (audit: PoolAudit): void => {
    ended++;
    if (audit.status === "failed") failed++;
    cost += feesOf(audit, market);
  };
  const model = new PoolModel(market, seededChance(market, 0, seedOf(seed, "good")), note);
  while (model.hires < goodHires) model.advance();
  return {
    falseChallenges: ended === 0 ? 0 : (failed * 1_000) / ended,
    costAtomic: (cost * 1_000n) / BigInt(Math.max(1, model.hires)),
  };
}
