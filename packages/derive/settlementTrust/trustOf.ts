import { COMPLEXITY_UNITS, DIVERGENCE_UNITS } from "tallystick-protocol/records/outcomes";
import { NANO, nanoOf } from "../steward/nano.ts";
import type { Row } from "../tables.ts";
import { betaQuantile } from "./betaQuantile.ts";

/** The levels by their numbers. */
export const settlementLevels = ["untrusted", "provisional", "trusted", "senior"] as const;

export type SettlementLevel = (typeof settlementLevels)[number];

/** What each level requires: at least this many settled proposals, and at least this trust in units of 10⁻⁹. */
const BARS = [
  { settled: 0, trust: 0 },
  { settled: 5, trust: 600_000_000 },
  { settled: 20, trust: 820_000_000 },
  { settled: 100, trust: 920_000_000 },
];

/**
 * The most evidence that is used, in tasks of complexity 1. More evidence is scaled down, so the computation
 * stays cheap.
 */
export const MAX_EVIDENCE = 1_000;

/** Sums over all of an agent's proposals, as its row has them. */
export type Evidence = Pick<
  Row<"settlementTrust">,
  "settled" | "rejected" | "settledComplexity" | "rejectedComplexity" | "compared" | "divergence"
>;

/**
 * The parameters of the Beta distribution: 1 + Σc over settled and 2 + Σc over rejected proposals, in whole tasks.
 * The sum over settled proposals is rounded down, and the sum over rejected ones is rounded up. So rounding never
 * makes a figure better.
 */
export function betaOf({ settledComplexity, rejectedComplexity }: Evidence): { alpha: number; beta: number } {
  const unit = BigInt(COMPLEXITY_UNITS);
  const [ok, fail] = [BigInt(settledComplexity), BigInt(rejectedComplexity)];
  const all = ok + fail;
  const most = BigInt(MAX_EVIDENCE) * unit;
  const [n, d] = all > most ? [most, all * unit] : [1n, unit];
  return { alpha: 1 + Number((ok * n) / d), beta: 2 + Number((fail * n + d - 1n) / d) };
}

/**
 * Settlement's trust in an agent (swarm.at §13, and the README of its protocol), in units of 10⁻⁹. It is the 5th
 * percentile of the Beta distribution minus the mean divergence of the compared proposals, at least 0.
 *
 * @param known the agent's figures so far. If the parameters are the same, the percentile is the same too
 */
export function trustOf(
  evidence: Evidence,
  known?: Pick<Row<"settlementTrust">, "alpha" | "beta" | "percentile">,
): Pick<Row<"settlementTrust">, "alpha" | "beta" | "percentile" | "trust" | "level"> {
  const { alpha, beta } = betaOf(evidence);
  const isKnown = known?.alpha === alpha && known.beta === beta;
  const percentile = isKnown ? known.percentile : betaQuantile(alpha, beta);
  const trust = Math.max(0, percentile - penaltyOf(evidence));
  return { alpha, beta, percentile, trust, level: levelOf(evidence.settled, trust) };
}

/** The mean divergence of what was compared, in units of 10⁻⁹. */
export function penaltyOf({ compared, divergence }: Evidence): number {
  if (compared === 0) return 0;
  return Math.min(NANO, nanoOf(BigInt(divergence), BigInt(compared) * BigInt(DIVERGENCE_UNITS)));
}

function levelOf(settled: number, trust: number): number {
  return BARS.findLastIndex((bar) => settled >= bar.settled && trust >= bar.trust);
}
