import { formatDecimal } from "tallystick-protocol/records/decimalSchema";
import type { MonitoringDifference } from "tallystick-protocol/records/monitoring";
import { parseRational } from "../../rational.ts";
import type { Row } from "../../tables.ts";
import { NANO, nanoOf, nanoToNumber } from "../nano.ts";
import { lessDenials } from "../score.ts";
import type { StewardTier } from "../stewardTier.ts";
import { RECOVERY_DAYS, suspendedUntil } from "./penalties.ts";
import { slaRequirements, slaTierOf } from "./slaRequirements.ts";
import { isLatency, penaltyOf } from "./terms.ts";

/** One guarantee in the form of T026. Values are shares or milliseconds, times are unix seconds. */
export type GuaranteeReport = {
  id: string;
  metric: string;
  measurement_window: string;
  target: number;
  breach_threshold: number;
  /** Null without data. */
  current: number | null;
  /** `compliant`, `at_risk` or `breached`. */
  status: string;
  /** The distance to the target. Positive means better than the target. */
  buffer: number | null;
  last_breach: number | null;
  days_until_breach: number | null;
  open_breach: string | null;
  penalty: object;
  since: number;
  /** Until when it binds, once it was weakened, dropped or withdrawn. */
  bound_until: number | null;
};

/** Where the agent's own monitoring differed from the measured figures when a prober asked it (T026). */
export type MonitoringReport = {
  prober: string;
  endpoint: string;
  asked_at: number;
  /** Shares, or milliseconds; null for none. */
  differences: {
    metric: string;
    measurement_window: string;
    measured: number | null;
    claimed: number | null;
  }[];
  /** The ledger entry. */
  record: string;
};

export type BreachReport = {
  id: string;
  guarantee: string;
  metric: string;
  measurement_window: string;
  target: number;
  breach_threshold: number;
  value: number;
  /** `detected`, `disputed`, `confirmed` or `overturned`. */
  status: string;
  detected_at: number;
  /** The end of the time for a dispute, or for its ruling. */
  decided_by: number;
  /** Ledger entries. */
  dispute: string | null;
  ruling: string | null;
  excuse: string | null;
  confirmed_at: number | null;
  closed_at: number | null;
  penalty: object;
  /** How many of the 30 days of recovery are over. */
  good_days: number;
  /** USDC in atomic units. */
  owed_atomic: string;
  paid_atomic: string;
};

/** What an agent promises, and whether it keeps it (STEWARD T026). */
export type SlaReport = {
  overall_status: string;
  version: string;
  record: string;
  guarantees: GuaranteeReport[];
  recent_breaches: BreachReport[];
  penalties_applied: { breach: string; type: string; since: number; recovery_days_left: number }[];
  /** How much breaches change the trust score: 0 or less. */
  trust_score_impact: number;
  /**
   * The draft's requirements for SLAs of each tier (T027), and the highest tier whose requirements the
   * promises meet. They are only shown and do not decide a tier.
   */
  tier_requirements: TierRequirement[];
  sla_tier: StewardTier;
  suspended_until: number | null;
};

/**
 * `bound`: the lowest promise that is enough (for a latency, the highest). `promised`: the agent's best
 * promise; null for none.
 */
export type TierRequirement = {
  tier: StewardTier;
  metric: string;
  bound: number;
  promised: number | null;
  is_met: boolean;
};

export function tierRequirements(guarantees: readonly Row<"guarantee">[]): {
  tier_requirements: TierRequirement[];
  sla_tier: StewardTier;
} {
  const asked = slaRequirements(guarantees);
  return {
    tier_requirements: asked.map(({ tier, metric, bound, promised, isMet }) => ({
      ...{ tier, metric, bound: share(bound), is_met: isMet },
      promised: promised === null ? null : share(promised),
    })),
    sla_tier: slaTierOf(asked),
  };
}

const share = (nano: bigint) => Number(formatDecimal(nano));

export function guaranteeReport(row: Row<"guarantee">): GuaranteeReport {
  const sign = isLatency(row) ? -1n : 1n;
  const { current, target } = row;
  const difference = current === null ? null : sign * (current - target);
  return {
    id: row.id,
    metric: row.metric,
    measurement_window: `${row.days} days`,
    target: share(target),
    breach_threshold: share(row.threshold),
    current: current === null ? null : share(current),
    status: row.status,
    buffer: difference === null ? null : difference < 0n ? -share(-difference) : share(difference),
    last_breach: row.lastBreach,
    days_until_breach: row.daysUntilBreach,
    open_breach: row.openBreach,
    penalty: penaltyOf(row),
    since: row.since,
    bound_until: row.boundUntil,
  };
}

export function monitoringReport(row: Row<"slaMonitoring">): MonitoringReport {
  const { differences } = JSON.parse(row.differences) as { differences: MonitoringDifference[] };
  const figure = (text: string | null) => (text === null ? null : Number(text));
  return {
    prober: row.prober,
    endpoint: row.endpoint,
    asked_at: row.askedAt,
    differences: differences.map(({ measured, claimed, ...of }) => ({
      ...of,
      ...{ measured: figure(measured), claimed: figure(claimed) },
    })),
    record: row.record,
  };
}

export function breachReport(row: Row<"breach">): BreachReport {
  return {
    id: row.id,
    guarantee: row.guarantee,
    metric: row.metric,
    measurement_window: `${row.days} days`,
    target: share(row.target),
    breach_threshold: share(row.threshold),
    value: share(row.value),
    status: row.status,
    detected_at: row.detectedTime,
    decided_by: row.decidedBy,
    dispute: row.dispute,
    ruling: row.ruling,
    excuse: row.excuse,
    confirmed_at: row.confirmedTime,
    closed_at: row.closedTime,
    penalty: penaltyOf(row),
    good_days: row.goodDays,
    owed_atomic: row.owed.toString(),
    paid_atomic: row.paid.toString(),
  };
}

/**
 * @param parameters.guarantees the binding guarantees
 * @param parameters.breaches its latest breaches, the latest first
 * @param parameters.time the time of the last tick, unix seconds
 */
export function slaReport(
  sla: Row<"sla">,
  {
    guarantees,
    breaches,
    score,
    time,
  }: {
    guarantees: readonly Row<"guarantee">[];
    breaches: readonly Row<"breach">[];
    score: Pick<Row<"steward">, "algorithmScore" | "denied" | "slaLeft" | "score"> | null;
    time: number;
  },
): SlaReport {
  return {
    overall_status: sla.status,
    version: sla.version,
    record: sla.record,
    guarantees: guarantees.map(guaranteeReport),
    recent_breaches: breaches.map(breachReport),
    penalties_applied: breaches
      .filter((it) => it.status === "confirmed" && it.goodDays < RECOVERY_DAYS)
      .map((it) => ({
        breach: it.id,
        type: penaltyOf(it).type,
        since: it.confirmedTime ?? it.detectedTime,
        recovery_days_left: RECOVERY_DAYS - it.goodDays,
      })),
    trust_score_impact: score === null ? 0 : impactOf(score),
    ...tierRequirements(guarantees),
    suspended_until: suspendedUntil(sla.suspensions, time),
  };
}

function impactOf({
  algorithmScore,
  denied,
  slaLeft,
}: Pick<Row<"steward">, "algorithmScore" | "denied" | "slaLeft">) {
  const { n, d } = parseRational(slaLeft);
  const lost = nanoOf(BigInt(lessDenials(algorithmScore, denied)) * (d - n), d * BigInt(NANO));
  return lost === 0 ? 0 : -nanoToNumber(lost);
}
