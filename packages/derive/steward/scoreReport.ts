import type { Row } from "../tables.ts";
import { DAY, dayOf, HOUR } from "./days.ts";
import { NANO, nanoToNumber } from "./nano.ts";
import { ALGORITHM_VERSION, type FactorName, lessDenials, WEIGHTS } from "./score.ts";
import { linesOf } from "./sla/lines.ts";
import { RECOVERY_DAYS, revokedBadges, suspendedUntil } from "./sla/penalties.ts";
import { KEPT_DAYS, parseSlotDays, SLOTS_PER_DAY } from "./slotDays.ts";
import {
  type Requirement,
  requirementsOf,
  STEWARD_TIERS,
  type StewardTier,
  UNVERIFIED_DELEGATIONS_PER_DAY,
} from "./stewardTier.ts";
import { factorsOf, tierFiguresOf } from "./tickSteward.ts";

/** The rows from which a report is made. */
export type ScoreSources = {
  row: Row<"steward">;
  /** The attestation that the score used. */
  attestation: Row<"attestation"> | null;
  sla: Row<"sla"> | null;
  /** The oldest of its valid guarantees: the first that `sla` names. */
  oldestGuarantee: Pick<Row<"guarantee">, "since"> | null;
  /** Its breaches that are not over, which `sla` names. */
  breaches: readonly Row<"breach">[];
  /** Its human claim. */
  claimStatus: string;
  /** The time of the last tick, unix seconds. */
  time: number;
};

/** One factor of a score. Figures are shares; times unix seconds. */
export type FactorReport = {
  name: FactorName;
  value: number;
  weight: number;
  /** value × weight. */
  contribution: number;
  /** The source of the data. */
  source: string;
  last_verified: number | null;
  /** Everything that is needed to compute it again. */
  evidence: { [name: string]: unknown };
};

/** A trust score with all its parts (STEWARD T010–T017). */
export type ScoreReport = {
  algorithm_version: string;
  computed_at: number;
  computed_block: number;
  score: number;
  tier: StewardTier;
  /** The score before the costs of denied downtime and of SLA breaches. */
  algorithm_score: number;
  /**
   * Slots of the last 30 days in which the agent says that it was up and the probers found it down, and their
   * cost.
   */
  denied_slots: number;
  denied_cost: number;
  /** The factor that remains of the score after breaches of its SLA, an exact fraction. */
  sla_factor: string;
  factors: FactorReport[];
  requirements: Requirement[];
  badges: string[];
  discovery_rank: number;
  /** Advice for buyers; null: no limit. */
  max_delegations_per_day: number | null;
  shown_with_warning: boolean;
  suspended_until: number | null;
  /** Not part of the score: rates in which a past day weighs e^(−0.1·days). */
  decayed: { success_rate: number | null; uptime: number | null };
  /**
   * Not part of the score: the success rate in which each hire weighs as much as its capability is difficult
   * (T014); null without hires.
   */
  difficulty_success: number | null;
};

/** Makes the published report; null before the first computation. */
export function scoreReport(from: ScoreSources): ScoreReport | null {
  const { row, sla, time } = from;
  const { computedTime, computedBlock } = row;
  if (computedTime === null || computedBlock === null) return null;
  const tier = STEWARD_TIERS[row.tier] as (typeof STEWARD_TIERS)[number];
  const isUnverified = row.tier === 0;
  return {
    algorithm_version: ALGORITHM_VERSION,
    computed_at: computedTime,
    computed_block: computedBlock,
    score: nanoToNumber(row.score),
    tier: tier.name,
    algorithm_score: nanoToNumber(row.algorithmScore),
    denied_slots: row.denied,
    denied_cost: nanoToNumber(row.algorithmScore - lessDenials(row.algorithmScore, row.denied)),
    sla_factor: row.slaLeft,
    factors: factorReports(from, computedTime),
    requirements: requirementsOf(tierFiguresOf(row, testsOf(from))),
    badges: badgesOf(from),
    discovery_rank: tier.discoveryRank,
    max_delegations_per_day: isUnverified ? UNVERIFIED_DELEGATIONS_PER_DAY : null,
    shown_with_warning: isUnverified,
    suspended_until: suspendedUntil(sla?.suspensions, time),
    decayed: { success_rate: shareOf(row.decayedSuccess), uptime: shareOf(row.decayedUptime) },
    difficulty_success: shareOf(row.difficultySuccess),
  };
}

const shareOf = (nano: number | null) => (nano === null ? null : nanoToNumber(nano));

function testsOf({ attestation }: Pick<ScoreSources, "attestation">) {
  return { passing: attestation?.testsPassing ?? 0, total: attestation?.testsTotal ?? 0 };
}

/**
 * The agent's badges. `verified`: its human claim is verified. `sla_compliant`: it has had a guarantee for 30
 * days, and no breach was confirmed during this time. The penalty of a breach may remove either badge.
 */
function badgesOf({ sla, oldestGuarantee, breaches, claimStatus, time }: ScoreSources): string[] {
  const revoked = revokedBadges(breaches);
  const isOld = oldestGuarantee !== null && dayOf(oldestGuarantee.since) + RECOVERY_DAYS <= dayOf(time);
  // A breach that goes on is confirmed only once, however long ago.
  const goesOn = breaches.some((it) => it.status === "confirmed" && it.closedTime === null);
  const isKept = !goesOn && (sla?.lastConfirmed == null || sla.lastConfirmed + RECOVERY_DAYS * DAY <= time);
  return [
    ...(claimStatus === "verified" ? ["verified"] : []),
    ...(isOld && isKept ? ["sla_compliant"] : []),
  ].filter((badge) => !revoked.has(badge));
}

function factorReports(from: ScoreSources, computed: number): FactorReport[] {
  const { row, attestation } = from;
  const values = factorsOf(row);
  const merged = row.mergedHour === null ? null : (row.mergedHour + 1) * HOUR;
  const told: { [name in FactorName]: Pick<FactorReport, "source" | "last_verified" | "evidence"> } = {
    test_coverage: {
      source: "attestation",
      last_verified: attestation?.ranAt ?? null,
      evidence: testEvidence(attestation),
    },
    uptime: { source: "uptime", last_verified: merged, evidence: uptimeEvidence(row, computed) },
    success_rate: { source: "hires", last_verified: computed, evidence: successEvidence(row, computed) },
    endorsements: { source: "endorsement", last_verified: computed, evidence: endorsementEvidence(row) },
    attestation_freshness: {
      source: "attestation",
      last_verified: attestation?.ranAt ?? null,
      evidence: {
        attestation: attestation?.id ?? null,
        last_attestation: attestation?.ranAt ?? null,
        hours_since: attestation === null ? null : Math.floor((computed - attestation.ranAt) / HOUR),
        validity_period_hours: 24,
      },
    },
  };
  return (Object.keys(WEIGHTS) as FactorName[]).map((name) => ({
    name,
    value: nanoToNumber(values[name]),
    weight: WEIGHTS[name] / 100,
    contribution: (WEIGHTS[name] * values[name]) / (100 * NANO),
    ...told[name],
  }));
}

function testEvidence(attestation: Row<"attestation"> | null): FactorReport["evidence"] {
  if (attestation === null) return { attestation: null, passing_tests: 0, total_tests: 0, runs: [] };
  return {
    /** The ledger entry. */
    attestation: attestation.id,
    kind: attestation.kind,
    signer: attestation.signer,
    version: attestation.version,
    commit: attestation.commit,
    passing_tests: attestation.testsPassing,
    total_tests: attestation.testsTotal,
    last_run: attestation.ranAt,
    ci_url: attestation.ciUrl,
    coverage_tool: attestation.coverageTool,
    runs: JSON.parse(attestation.runs),
  };
}

/** The windows of the sums in a row, in days. */
const WINDOWS = [7, 30, 90];

/** The slots of each stored day, and their sums. */
function uptimeEvidence(row: Row<"steward">, computed: number): FactorReport["evidence"] {
  const today = dayOf(computed);
  const windows = row.slotSums.split(" ").map((text, n) => {
    const [slots, down, raw] = text.split(":").map(Number) as [number, number, number];
    return { days: WINDOWS[n], slots, down, found_down: raw };
  });
  const month = windows[1] as (typeof windows)[number];
  const hours = (slots: number) => (slots * 24) / SLOTS_PER_DAY;
  return {
    measurement_period_days: 30,
    total_hours: hours(month.slots),
    downtime_hours: hours(month.down),
    /** Runs of one or two slots do not count as downtime, but are part of `found_down`. */
    windows,
    days: parseSlotDays(row.slots)
      .filter(({ day }) => day > today - KEPT_DAYS)
      .map(({ day, data, down, raw, denied }) => ({
        date: new Date(day * DAY * 1_000).toISOString().slice(0, 10),
        slots: data,
        down,
        found_down: raw,
        denied,
      })),
  };
}

function successEvidence(row: Row<"steward">, computed: number): FactorReport["evidence"] {
  return {
    measurement_period_days: 30,
    /** Exact sums of weights. Each hire weighs 1, or 1/n inside a cluster of n agents. */
    successful: row.succeeded,
    failed: row.failed,
    /** The beginning of the period whose hires count. */
    hires_from: (dayOf(computed) - 29) * DAY,
  };
}

function endorsementEvidence(row: Row<"steward">): FactorReport["evidence"] {
  return {
    total_endorsements: row.endorsementCount,
    unique_endorsers: row.uniqueEndorsers,
    endorser_trust_avg: nanoToNumber(row.endorserTrust),
    counted: linesOf(row.counted).map((line) => {
      const [endorser, capability, party, trust] = line.split(" ");
      return { endorser, capability: capabilityOf(capability), party, trust: nanoToNumber(Number(trust)) };
    }),
    left_out: linesOf(row.leftOut).map((line) => {
      const [endorser, capability, reason] = line.split(" ");
      return { endorser, capability: capabilityOf(capability), reason };
    }),
  };
}

const capabilityOf = (text: string | undefined) => (text === "*" ? null : text);
