import { logarithm } from "./logarithms.ts";
import { NANO, nanoOf } from "./nano.ts";

/** The weights of the score in percent. A version of the algorithm is its weights and its formulas. */
export const WEIGHTS = {
  test_coverage: 30,
  uptime: 20,
  success_rate: 25,
  endorsements: 15,
  attestation_freshness: 10,
} as const;

export const ALGORITHM_VERSION = "1.0.0";

export type FactorName = keyof typeof WEIGHTS;

/** How much each factor counts, in whole parts of their sum. */
export type Weights = { readonly [name in FactorName]: number };

/** Each factor in units of 10⁻⁹, from 0 to 10⁹. */
export type Factors = { [name in FactorName]: number };

/** Whole hours after which an attestation is worth nothing. */
const VALIDITY_HOURS = 24;

/** 1 − h/24 with whole hours h since the tests ran; 0 from 24 on (T009). */
export function freshnessOf(hours: number): number {
  return hours >= VALIDITY_HOURS ? 0 : nanoOf(BigInt(VALIDITY_HOURS - hours), BigInt(VALIDITY_HOURS));
}

/** One endorsement that counts, and what its endorser's own score is, in units of 10⁻⁹. */
export type CountedEndorsement = { party: string; trust: number };

/**
 * min(.9, log10(n+1)/log10 50) × average trust × (.7 + .3·unique/n) (T008). Endorsers in the same cluster or
 * buyer group count as one endorser, with the lowest trust among them.
 */
export function endorsementsOf(counted: readonly CountedEndorsement[]): {
  value: number;
  unique: number;
  average: number;
} {
  const n = counted.length;
  if (n === 0) return { value: 0, unique: 0, average: 0 };
  const trusts = new Map<string, number>();
  for (const { party, trust } of counted) trusts.set(party, Math.min(trust, trusts.get(party) ?? trust));
  const unique = trusts.size;
  let sum = 0;
  for (const trust of trusts.values()) sum += trust;
  const [log, scale] = [logarithm(n + 1), logarithm(50)];
  // log/scale or 9/10, times sum/unique/10⁹, times (7n + 3·unique)/10n.
  const [baseN, baseD] = 10n * log > 9n * scale ? [9n, 10n] : [log, scale];
  const value = nanoOf(
    baseN * BigInt(sum) * BigInt(7 * n + 3 * unique),
    baseD * BigInt(unique) * BigInt(NANO) * BigInt(10 * n),
  );
  return { value, unique, average: nanoOf(BigInt(sum), BigInt(unique) * BigInt(NANO)) };
}

/** The weighted sum of the factors, rounded half up. */
export function scoreOf(factors: Factors, weights: Weights = WEIGHTS): number {
  return averageOf(ALL, factors, weights);
}

const ALL = Object.keys(WEIGHTS) as FactorName[];
const OWN = ALL.filter((name) => name !== "endorsements");

/**
 * The score without its endorsements, scaled to 1 again. It is the worth of an agent's endorsement of
 * another. The agent's own endorsements are left out, so influence reaches only one step.
 */
export function ownTrustOf(factors: Factors, weights: Weights = WEIGHTS): number {
  return averageOf(OWN, factors, weights);
}

/** The weighted average of some factors; 0 if none of them has a weight. */
function averageOf(names: readonly FactorName[], factors: Factors, weights: Weights): number {
  let sum = 0;
  let whole = 0;
  for (const name of names) {
    sum += weights[name] * factors[name];
    whole += weights[name];
  }
  return whole === 0 ? 0 : nanoOf(BigInt(sum), BigInt(whole) * BigInt(NANO));
}

/**
 * The cost of one denied slot, and the highest cost of all denied slots, in units of 10⁻⁹. In a denied slot the agent
 * says that it was up, and the probers found it down (T013).
 */
const DENIAL = 50_000_000;
const MAX_DENIALS = 200_000_000;

/** The score minus the cost of denied downtime, never below 0. */
export function lessDenials(score: number, denied: number): number {
  return Math.max(0, score - Math.min(MAX_DENIALS, DENIAL * denied));
}
