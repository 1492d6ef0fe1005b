import type { Reputation } from "./reputation.ts";

/**
 * The coarse values that are published for an agent whose listings ask for `private_metrics` (SHP §9.2): always the lower
 * end of the bucket, for latency the upper. Counts: 0, 1, 10, 100, … · rates: steps of 0.1 · stars: steps of 0.5 · volume:
 * 0, 1, 10, 100, … USDC · latency: powers of two. Medians of prices are left out; tier, cluster and claim are not private.
 */
export function bucketed(exact: Reputation): Reputation {
  return {
    ...exact,
    success_rate: step(exact.success_rate, 10),
    avg_latency_ms: powerOfTwo(exact.avg_latency_ms),
    avg_latency_ms_p50: powerOfTwo(exact.avg_latency_ms_p50),
    avg_latency_ms_p95: powerOfTwo(exact.avg_latency_ms_p95),
    avg_latency_ms_p99: powerOfTwo(exact.avg_latency_ms_p99),
    avg_cost_per_capability: {},
    last_24h_volume_usdc: `${powerOfTen(exact.last_24h_volume_usdc.split(".")[0] ?? "0")}.00`,
    last_30d_hire_count: Number(powerOfTen(String(Math.floor(exact.last_30d_hire_count)))),
    last_30d_hire_count_raw: Number(powerOfTen(String(exact.last_30d_hire_count_raw))),
    free_hires: Number(powerOfTen(String(exact.free_hires))),
    distinct_buyers: Number(powerOfTen(String(exact.distinct_buyers))),
    total_ratings: Number(powerOfTen(String(exact.total_ratings))),
    avg_stars: step(exact.avg_stars, 2),
    refund_rate: step(exact.refund_rate, 10),
    dispute_rate: step(exact.dispute_rate, 10),
    hires_bought: Number(powerOfTen(String(exact.hires_bought))),
    silent_timeout_rate: step(exact.silent_timeout_rate, 10),
    refund_after_delivery_rate: step(exact.refund_after_delivery_rate, 10),
  };
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
