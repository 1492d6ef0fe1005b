import { z } from "zod";
import { dateSeconds } from "./dateSeconds.ts";
import type { ShownReport } from "./shownReport.ts";

const count = z.int().min(0);
const share = z.number().min(0).max(1);
/** An exact sum of weights: a whole number, or a fraction. */
const weights = z.string().regex(/^[0-9]+(?:\/[1-9][0-9]*)?$/);

/** The parts of the evidence that are shown or computed with. Each factor has only some of them. */
const evidence = z.looseObject({
  kind: z.string().nullish(),
  ci_url: z.string().nullish(),
  attestation: z.string().nullish(),
  passing_tests: count.optional(),
  total_tests: count.optional(),
  runs: z.array(z.looseObject({ passing: count, total: count, seed: z.string().optional() })).optional(),
  measurement_period_days: count.optional(),
  total_hours: z.number().optional(),
  downtime_hours: z.number().optional(),
  days: z.array(z.looseObject({ date: z.string(), slots: count, down: count })).optional(),
  successful: weights.optional(),
  failed: weights.optional(),
  total_endorsements: count.optional(),
  unique_endorsers: count.optional(),
  endorser_trust_avg: z.number().optional(),
  counted: z.array(z.looseObject({ party: z.string(), trust: share })).optional(),
  left_out: z.array(z.unknown()).optional(),
  last_attestation: count.nullish(),
  validity_period_hours: count.optional(),
});

const factor = z.looseObject({
  score: z.number(),
  weight: z.number(),
  contribution: z.number(),
  source: z.string(),
  last_verified: z.string().nullable(),
  evidence,
});

/** The form of a trust report, as far as people are shown it. */
export const shownReportForm = z.looseObject({
  trust_report: z.looseObject({
    agent_id: z.string(),
    alias: z.string().nullable(),
    version: z.string().nullable(),
    report_date: z.string(),
    as_of: z.looseObject({ block: count, time: dateSeconds }),
    trust_score: z.number(),
    tier: z.string(),
    algorithm_score: z.number(),
    denied_slots: count,
    denied_cost: z.number(),
    sla_factor: z.string(),
    factors: z.looseObject({
      test_coverage: factor,
      uptime: factor,
      success_rate: factor,
      endorsements: factor,
      attestation_freshness: factor,
    }),
    requirements: z.array(
      z.looseObject({ tier: z.string(), metric: z.string(), above: z.number(), is_met: z.boolean() }),
    ),
    badges: z.array(z.string()),
    suspended_until: dateSeconds.nullable(),
    verification: z.looseObject({
      signature: z.string(),
      signed_by: z.string(),
      public_key: z.string(),
      verification_url: z.string(),
    }),
  }),
}) satisfies z.ZodType<ShownReport>;
