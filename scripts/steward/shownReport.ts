import type { FactorName } from "tallystick-derive/steward/score";

/** One factor of a trust report, in the node's form. */
export type ShownFactor = {
  score: number;
  weight: number;
  contribution: number;
  source: string;
  last_verified: string | null;
  evidence: { [name: string]: unknown };
};

/** The fields of a trust report that people are shown. */
export type ShownReport = {
  trust_report: {
    agent_id: string;
    alias: string | null;
    version: string | null;
    report_date: string;
    as_of: { block: number; time: number };
    trust_score: number;
    tier: string;
    algorithm_score: number;
    denied_slots: number;
    denied_cost: number;
    sla_factor: string;
    factors: { [name in FactorName]: ShownFactor };
    requirements: { tier: string; metric: string; above: number; is_met: boolean }[];
    badges: string[];
    suspended_until: number | null;
    verification: { signature: string; signed_by: string; public_key: string; verification_url: string };
  };
};

/** The titles of the factors, in the order of the score. */
export const FACTOR_TITLES: { [name in FactorName]: string } = {
  test_coverage: "Test Coverage",
  uptime: "Uptime",
  success_rate: "Success Rate",
  endorsements: "Endorsements",
  attestation_freshness: "Attestation Freshness",
};

/** The titles of the tiers (T015). */
export const TIER_TITLES: { [tier: string]: string } = {
  UNVERIFIED: "🆕 (Unverified)",
  VERIFIED: "✅ (Verified)",
  TRUSTED: "⭐ (Trusted)",
  HIGHLY_TRUSTED: "⭐⭐⭐ (Highly Trusted)",
};

/** How long ago `last` was, in whole hours or days. `last` may be unknown. */
export function ageOf(last: string | null, asOf: number): string {
  if (last === null) return "never";
  const hours = Math.max(0, Math.floor((asOf - Date.parse(last) / 1_000) / 3_600));
  return `${hours < 48 ? `${hours}h` : `${Math.floor(hours / 24)}d`} ago (${last})`;
}

/** Formats a share as a percentage. It is rounded down, so it never looks better than it is. */
export function shareText(value: number, decimals = 1): string {
  const shown = Math.floor(value * 100 * 10 ** decimals + 1e-7) / 10 ** decimals;
  return `${shown.toFixed(decimals)}%`;
}
