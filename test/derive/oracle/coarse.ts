import type { Expected } from "./fields.ts";

/** The lower limits of the published buckets for counts and whole USDC. */
const POWERS_OF_TEN = Array.from({ length: 30 }, (_, n) => 10n ** BigInt(n));
/** The upper limits of the buckets for latencies. */
const POWERS_OF_TWO = Array.from({ length: 50 }, (_, n) => 2 ** n);

const tens = (whole: bigint) => POWERS_OF_TEN.findLast((end) => end <= whole) ?? 0n;
const count = (value: number) => Number(tens(BigInt(Math.floor(value))));
const wholeUsdc = (value: string) => `${tens(BigInt(value.split(".")[0] ?? "0"))}.00`;
const latency = (value: number | null) =>
  value === null ? null : (POWERS_OF_TWO.find((end) => end >= value) ?? Number.NaN);

/** The highest published limit that a value with nine decimals reaches. */
function reached(value: number | null, ends: number[]): number | null {
  return value === null
    ? null
    : (ends.findLast((end) => Math.round(end * 1e9) <= Math.round(value * 1e9)) ?? 0);
}

const TENTHS = [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1];
const HALVES = [0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5];

/** The published fields of an agent with private metrics (SHP §9.2). */
export function coarse(exact: Expected): Partial<Expected> {
  return {
    success_rate: reached(exact.success_rate, TENTHS),
    audit_pass_rate: reached(exact.audit_pass_rate, TENTHS),
    audit_coverage: reached(exact.audit_coverage, TENTHS),
    refund_rate: reached(exact.refund_rate, TENTHS),
    dispute_rate: reached(exact.dispute_rate, TENTHS),
    silent_timeout_rate: reached(exact.silent_timeout_rate, TENTHS),
    refund_after_delivery_rate: reached(exact.refund_after_delivery_rate, TENTHS),
    avg_stars: reached(exact.avg_stars, HALVES),
    avg_latency_ms: latency(exact.avg_latency_ms),
    avg_latency_ms_p50: latency(exact.avg_latency_ms_p50),
    avg_latency_ms_p95: latency(exact.avg_latency_ms_p95),
    avg_latency_ms_p99: latency(exact.avg_latency_ms_p99),
    avg_cost_per_capability: {},
    last_24h_volume_usdc: wholeUsdc(exact.last_24h_volume_usdc),
    last_30d_hire_count: count(exact.last_30d_hire_count),
    last_30d_hire_count_raw: count(exact.last_30d_hire_count_raw),
    free_hires: count(exact.free_hires),
    distinct_buyers: count(exact.distinct_buyers),
    total_ratings: count(exact.total_ratings),
    independent_buyers: count(exact.independent_buyers),
    established_buyers: count(exact.established_buyers),
    independent_success_rate: reached(exact.independent_success_rate, TENTHS),
    kept_usdc: wholeUsdc(exact.kept_usdc),
    fees_paid_usdc: wholeUsdc(exact.fees_paid_usdc),
    receipt_coverage: reached(exact.receipt_coverage, TENTHS),
    unreceipted_payments: count(exact.unreceipted_payments),
    unreceipted_usdc: wholeUsdc(exact.unreceipted_usdc),
    unanswered_escrows: count(exact.unanswered_escrows),
    refunds_contested: count(exact.refunds_contested),
    refunds_contested_families: count(exact.refunds_contested_families),
    audits_eligible: count(exact.audits_eligible),
    audits_drawn: count(exact.audits_drawn),
    audits_undisclosed: count(exact.audits_undisclosed),
    false_refunds: count(exact.false_refunds),
    hires_bought: count(exact.hires_bought),
  };
}
