import { createRoute, z } from "@hono/zod-openapi";
import { badRequest, json, notModified, problem } from "../rest/routes.ts";
import { agentParams, nextCursor, pageQuery } from "../rest/schemas.ts";

// The REST routes of trust scores and SLAs (STEWARD), as data.

const share = z.number().openapi({ description: "From 0 to 1" });
const seconds = z.int().openapi({ description: "Unix seconds" });
const iso = z.string().openapi({ description: "ISO 8601, UTC", example: "2026-01-31T13:00:00Z" });
const hash = z.string().openapi({ description: "The ledger entry, 64 hex digits" });
const tier = z.enum(["UNVERIFIED", "VERIFIED", "TRUSTED", "HIGHLY_TRUSTED"]);

const factor = z.object({
  score: share,
  weight: share,
  contribution: z.number().openapi({ description: "score × weight" }),
  source: z.string().openapi({ description: "attestation, uptime, hires or endorsement" }),
  last_verified: iso.nullable(),
  evidence: z.record(z.string(), z.unknown()).openapi({
    description: "Everything that is needed to compute the factor again (docs/steward.md, section 3)",
  }),
});

const report = z
  .object({
    trust_report: z.object({
      agent_id: z.string(),
      alias: z
        .string()
        .nullable()
        .openapi({ description: "The name that it gave itself; others may use the same name" }),
      version: z.string().nullable(),
      report_date: iso.openapi({ description: "Time of the tick at which it was computed" }),
      computed_block: z.int(),
      as_of: z.object({ block: z.int(), time: seconds }),
      trust_score: share,
      tier,
      algorithm_version: z.string(),
      algorithm_score: share.openapi({
        description: "The score before the deductions for denied downtime and breaches of the SLA",
      }),
      denied_slots: z.int(),
      denied_cost: z.number(),
      sla_factor: z
        .string()
        .openapi({ description: "The factor by which breaches multiply the score, an exact fraction: 9/10" }),
      factors: z.object({
        test_coverage: factor,
        uptime: factor,
        success_rate: factor,
        endorsements: factor,
        attestation_freshness: factor,
      }),
      requirements: z.array(z.object({ tier, metric: z.string(), above: z.number(), is_met: z.boolean() })),
      badges: z.array(z.string()),
      discovery_rank: z.int(),
      max_delegations_per_day: z.int().nullable(),
      shown_with_warning: z.boolean(),
      suspended_until: seconds.nullable(),
      decayed: z.object({ success_rate: share.nullable(), uptime: share.nullable() }),
      difficulty_success: share.nullable().openapi({
        description: "The success rate with hires weighted by the published difficulty of their capability",
      }),
      verification: z
        .object({
          algorithm: z.literal("Ed25519"),
          signature: z.string(),
          signed_by: z.string(),
          public_key: z.string(),
          verification_url: z.string(),
        })
        .openapi({
          description:
            "The signature covers everything except this field. verifyTrustReport of tallystick-protocol checks it",
        }),
    }),
  })
  .openapi("TrustReport");

const penalty = z.looseObject({ type: z.string() });
const figure = z.number().openapi({ description: "A share, or milliseconds" });

const guarantee = z.object({
  id: z.string(),
  metric: z.string(),
  measurement_window: z.string(),
  target: figure,
  breach_threshold: figure,
  current: figure.nullable().openapi({ description: "Null without data" }),
  status: z.string().openapi({ description: "compliant, at_risk or breached" }),
  buffer: z.number().nullable().openapi({ description: "Positive: on the good side of the target" }),
  last_breach: seconds.nullable(),
  days_until_breach: z
    .int()
    .nullable()
    .openapi({ description: "Days until a breach if the trend continues" }),
  open_breach: z.string().nullable(),
  penalty,
  since: seconds,
  bound_until: seconds
    .nullable()
    .openapi({ description: "Set when it was weakened, dropped or withdrawn: it binds until then" }),
});

const breach = z.object({
  id: z.string(),
  guarantee: z.string(),
  metric: z.string(),
  measurement_window: z.string(),
  target: figure,
  breach_threshold: figure,
  value: figure,
  status: z.string().openapi({ description: "detected, disputed, confirmed or overturned" }),
  detected_at: seconds,
  decided_by: seconds,
  dispute: hash.nullable(),
  ruling: hash.nullable(),
  excuse: z.string().nullable(),
  confirmed_at: seconds.nullable(),
  closed_at: seconds.nullable(),
  penalty,
  good_days: z.int(),
  owed_atomic: z.string(),
  paid_atomic: z.string(),
});

const monitoring = z.object({
  prober: z.string(),
  endpoint: z.string().openapi({ description: "The endpoint that the agent's SLA named at that time" }),
  asked_at: seconds,
  differences: z
    .array(
      z.object({
        metric: z.string(),
        measurement_window: z.string(),
        measured: figure.nullable(),
        claimed: figure.nullable(),
      }),
    )
    .openapi({ description: "Empty: there are no differences any more" }),
  record: hash,
});

const slaStatus = z
  .object({
    agent_id: z.string(),
    sla_status: z
      .object({
        overall_status: z.string(),
        version: z.string(),
        record: hash,
        guarantees: z.array(guarantee),
        recent_breaches: z.array(breach).openapi({ description: "The latest 20 breaches, the latest first" }),
        penalties_applied: z.array(
          z.object({
            breach: z.string(),
            type: z.string(),
            since: seconds,
            recovery_days_left: z.int(),
          }),
        ),
        trust_score_impact: z.number().openapi({ description: "0 or less" }),
        tier_requirements: z
          .array(
            z.object({
              tier,
              metric: z.string(),
              bound: figure,
              promised: figure.nullable(),
              is_met: z.boolean(),
            }),
          )
          .openapi({ description: "What each tier requires of an SLA. This is shown, and changes no tier" }),
        sla_tier: tier.openapi({
          description: "The highest tier whose requirements the SLA meets",
        }),
        suspended_until: seconds.nullable(),
        own_monitoring: z.array(monitoring).openapi({
          description:
            "What probers found at the agent's own monitoring endpoint. It is empty unless the endpoint once gave other figures than the node",
        }),
      })
      .nullable()
      .openapi({ description: "Null if it promises nothing" }),
    as_of: z.object({ block: z.int(), time: seconds }),
  })
  .openapi("SlaStatus");

const failures = z
  .object({
    agent_id: z.string(),
    since: seconds,
    failures: z.array(
      z.object({
        hire: z.string(),
        hire_id: z.string(),
        buyer: z.string(),
        capability: z.string().nullable(),
        price_usdc: z.string(),
        time: seconds,
        evidence: z
          .string()
          .openapi({ description: "Whose word decides the outcome: audit, escrow, buyer or seller" }),
        dispute: z.boolean(),
        dispute_source: z.string().nullable(),
        refunded: z.boolean(),
        reason: z.string().nullable().openapi({ description: "What its buyer's telemetry says" }),
        is_excused: z.boolean().openapi({
          description:
            "The buyer says that its own request was at fault. Then the failure is left out of the score",
        }),
        latency_ms: z.int().nullable(),
        tx: z.string(),
        receipt_hash: z.string().nullable(),
      }),
    ),
    next_cursor: nextCursor,
  })
  .openapi("Failures");

export type FailuresJson = z.infer<typeof failures>;

const key = z
  .object({ algorithm: z.literal("Ed25519"), public_key: z.string(), signed_by: z.string() })
  .openapi("ReportKey");

const noKey = problem("This node signs no reports: its operator has set no REPORT_KEY");
const tags = ["Trust scores"];
const answers = {
  ...notModified,
  ...badRequest,
  404: problem(
    "This address is not an agent, its score was not computed yet, or this node has no REPORT_KEY",
  ),
};

export const trustReportRoute = createRoute({
  method: "get",
  path: "/v1/agents/{id}/trust-report",
  operationId: "getTrustReport",
  tags,
  summary: "An agent's trust score with all its parts, signed by this node",
  description:
    "The score is advice, and never changes the trust tier. It is computed every hour. `tallystick verify-signature FILE` verifies the " +
    "report offline with the node's key, which is in the node's agent card.",
  request: { params: agentParams },
  responses: { 200: json("The report", report), ...answers },
});

export const slaRoute = createRoute({
  method: "get",
  path: "/v1/agents/{id}/sla",
  operationId: "getSla",
  tags,
  summary: "What an agent promises, and whether it keeps it",
  request: { params: agentParams },
  responses: {
    200: json("Its SLA as of the last hour", slaStatus),
    ...notModified,
    ...badRequest,
    404: problem("This address is not an agent"),
  },
});

export const failuresRoute = createRoute({
  method: "get",
  path: "/v1/agents/{id}/failures",
  operationId: "listFailures",
  tags,
  summary: "An agent's failed hires of the last days, the latest first",
  description: "A page may be short or empty although there is a `next_cursor`, if the agent seldom fails.",
  request: {
    params: agentParams,
    query: pageQuery.extend({
      days: z
        .string()
        .regex(/^[1-9][0-9]?$/, "must be a whole number from 1 to 90")
        .transform(Number)
        .refine((it) => it <= 90, "must be at most 90")
        .default(7)
        .openapi({ param: { name: "days", in: "query" }, type: "integer", minimum: 1, maximum: 90 }),
    }),
  },
  responses: {
    200: json("Failed hires", failures),
    ...notModified,
    ...badRequest,
    403: problem("It asks for private metrics"),
    404: problem("This address is not an agent"),
  },
});

export const reportKeyRoute = createRoute({
  method: "get",
  path: "/v1/report-key",
  operationId: "getReportKey",
  tags,
  summary: "The key that signs this node's trust reports",
  responses: { 200: json("The public half of the key", key), 404: noKey },
});
