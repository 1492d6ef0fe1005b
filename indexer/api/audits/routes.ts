import { createRoute, z } from "@hono/zod-openapi";
import { auditedHireSchema } from "tallystick-protocol/records/auditedHireSchema";
import { badRequest, json, notModified, problem } from "../rest/routes.ts";
import { nextCursor, pageQuery } from "../rest/schemas.ts";

// The REST routes for audits (SHP §8.3), as data.

/** The path for decisions. Its pages have their own tags. */
export const ACTUATION_LOG_PATH = "/v1/audit-actuation-log";

const address = z.string().openapi({ description: "Wallet address, lower case" });
const seconds = z.int().openapi({ description: "Unix seconds" });
const hash = z.string().openapi({ description: "64 hex digits" });
const hire = z.string().openapi({ description: "`<tx>-<log>` of its payment, or its escrow's id" });
const reasons = z.array(z.object({ code: z.string(), detail: z.string() }));

const actuation = z
  .object({
    hash: hash.openapi({ description: "The hash of the ledger entry, 64 hex digits" }),
    ledger: z.string(),
    seq: z.int(),
    operator: address,
    hire,
    decision: z.string().openapi({ description: "rollback or dismiss" }),
    reasons,
    signature: z.string(),
    block: z.int(),
    time: seconds.openapi({
      description: "The block time of the anchor. The decision counts from this time on",
    }),
  })
  .openapi("AuditActuation");

export type ActuationJson = z.infer<typeof actuation>;

const tags = ["Audits"];

export const actuationLogRoute = createRoute({
  method: "get",
  path: ACTUATION_LOG_PATH,
  operationId: "listAuditDecisions",
  tags,
  summary: "What operators decided of hires that auditors found bad, and why",
  description:
    "The decisions in order, the oldest first (SHP §8.3.4.2). Only final decisions are given, so a page with a `next_cursor` " +
    "changes only with the rules of a new version. A page without one may grow, so ask for it again.",
  request: { query: pageQuery },
  responses: {
    200: json("Decisions that count", z.object({ actuations: z.array(actuation), next_cursor: nextCursor })),
    ...notModified,
    ...badRequest,
  },
});

const attempt = z.object({
  attempt: z.int(),
  auditor: address,
  auditor_type: z.string().openapi({ description: "auditor or operator-issued" }),
  assigned_block: z.int(),
  assigned_at: seconds,
  passed_over: z
    .array(z.string())
    .openapi({ description: "Why the auditors at the first places could not be asked" }),
  clusters: z.record(z.string(), z.array(z.string())),
  families: z.record(z.string(), z.string()),
  verdict: z.string().nullable().openapi({ description: "pass, fail or inconclusive" }),
  verdict_time: seconds.nullable(),
  reason_codes: z.array(z.string()),
  record: hash.nullable().openapi({ description: "The ledger entry with its verdict" }),
});

const audit = z
  .object({
    hire,
    operator: address,
    seller: address,
    buyer: address,
    capability: z.string().nullable(),
    verification_version: z.string(),
    amount_usdc_atomic: z.string(),
    receipt_hash: hash.nullable(),
    params_hash: z.string().nullable(),
    result_hash: z.string().nullable(),
    status: z.string().openapi({
      description: "eligible, assigning, assigned, rechecking, passed, failed, inconclusive or abandoned",
    }),
    challenged: z.boolean().openapi({ description: "It failed, and waits for its operator's decision" }),
    decision: z.string().nullable().openapi({ description: "rollback or dismiss" }),
    decision_record: hash.nullable(),
    reason: z
      .string()
      .nullable()
      .openapi({ description: "Why it failed by the rules alone: undisclosed or equivocation" }),
    cause: z.string().openapi({ description: "sample, contested or rules" }),
    mode: z
      .string()
      .nullable()
      .openapi({ description: "The mode of its capability when it failed: bootstrap or mature" }),
    history: z
      .string()
      .nullable()
      .openapi({ description: "What auditors of a mature capability found later" }),
    canary: z
      .string()
      .nullable()
      .openapi({ description: "good or bad, once its operator said that it arranged the hire" }),
    rate_ppm: z.int(),
    eligible_block: z.int(),
    eligible_time: seconds,
    drawn: z
      .object({ block: z.int(), time: seconds, tick_hash: z.string().nullable() })
      .nullable()
      .openapi({ description: "Null: not drawn" }),
    closed_time: seconds.nullable(),
    rounds: z.array(z.object({ round: z.int(), attempts: z.array(attempt) })),
  })
  .openapi("Audit");

export type AuditJson = z.infer<typeof audit>;

export const auditRoute = createRoute({
  method: "get",
  path: "/v1/audits/{hire}",
  operationId: "getAudit",
  tags,
  summary: "An audited hire: how it was drawn, who was asked, and the verdicts",
  request: {
    params: z.object({
      hire: auditedHireSchema
        .clone()
        .openapi({ param: { name: "hire", in: "path" }, description: "The id of the hire in audits" }),
    }),
  },
  responses: {
    200: json("The audit", audit),
    ...notModified,
    ...badRequest,
    404: problem("Nobody may audit this hire"),
  },
});
