import type { Reputation } from "./reputation.ts";

/**
 * The coarse values that are published for an agent whose listings ask for `private_metrics` (SHP §9.2): always the lower
 * end of the bucket, for latency the upper. Counts: 0, 1, 10, 100, … · rates: steps of 0.1 · stars: steps of 0.5 · volume:
 * 0, 1, 10, 100, … USDC · latency: powers of two. Medians of prices are left out; tier, cluster and claim are not private.
 */
const buckets: { [F in keyof Reputation]?: (exact: Reputation[F]) => Reputation[F] } = {
  success_rate: tenths,
  avg_latency_ms: powerOfTwo,
  avg_latency_ms_p50: powerOfTwo,
  avg_latency_ms_p95: powerOfTwo,
  avg_latency_ms_p99: powerOfTwo,
  avg_cost_per_capability: () => ({}),
  last_24h_volume_usdc: (exact) => `${powerOfTen(exact.split(".")[0] ?? "0")}.00`,
  last_30d_hire_count: (exact) => count(Math.floor(exact)),
  last_30d_hire_count_raw: count,
  free_hires: count,
  distinct_buyers: count,
  total_ratings: count,
  avg_stars: (exact) => step(exact, 2),
  refund_rate: tenths,
  dispute_rate: tenths,
  hires_bought: count,
  silent_timeout_rate: tenths,
  refund_after_delivery_rate: tenths,
};

/** The bucket that one field's exact value is in; the value itself where it is not private. */
export function bucket<F extends keyof Reputation>(field: F, exact: Reputation[F]): Reputation[F] {
  const rule = buckets[field];
  return rule === undefined ? exact : rule(exact);
}

/** All fields at once. */
export function bucketed(exact: Reputation): Reputation {
  const fields = Object.entries(exact).map(([name, value]) => [
    name,
    bucket(name as keyof Reputation, value),
  ]);
  return Object.fromEntries(fields) as Reputation;
}

function tenths(value: number | null): number | null {
  return step(value, 10);
}

function count(whole: number): number {
  return Number(powerOfTen(String(whole)));
}

/** The largest multiple of 1/steps that is not above. */
function step(value: number | null, steps: number): number | null {
  return value === null ? null : Math.floor(value * steps + 1e-9) / steps;
}

/** The largest power of ten that a whole number, in digits, reaches; 0 for 0. */
function powerOfTen(digits: string): string {
  return digits === "0" ? "0" : `1${"0".repeat(digits.length - 1)}`;
}

/** The smallest power of two that is not below. */
function powerOfTwo(value: number | null): number | null {
  return value === null ? null : 2 ** Math.ceil(Math.log2(Math.max(1, value)));
}
