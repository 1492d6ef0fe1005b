import * as z from "zod";
import { addressSchema } from "../address.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "./boundForm.ts";
import { decimalSchema, decimalShareSchema, parseDecimal, positiveShareSchema } from "./decimalSchema.ts";
import { endpointSchema } from "./listing.ts";

/** The most days of a suspension. */
const MAX_SUSPENSION_DAYS = 90;

export const slaMetrics = ["uptime", "success_rate", "latency_p50", "latency_p95", "latency_p99"] as const;
export type SlaMetric = (typeof slaMetrics)[number];

export const slaWindows = ["7 days", "30 days", "90 days"] as const;
export type SlaWindow = (typeof slaWindows)[number];

export const badgeSchema = z.enum(["verified", "sla_compliant"], {
  error: 'must be "verified" or "sla_compliant"',
});

/** What a confirmed breach costs. Amounts are decimal strings: a share of the score, or USDC. */
const penaltySchema = z.discriminatedUnion(
  "type",
  [
    z.strictObject({ type: z.literal("trust_score_reduction"), amount: positiveShareSchema }),
    z.strictObject({
      type: z.literal("temporary_suspension"),
      duration: z
        .string()
        .refine((text) => daysOf(text) !== null, `must be "1 days" to "${MAX_SUSPENSION_DAYS} days"`),
    }),
    z.strictObject({
      type: z.literal("financial"),
      amount: z
        .string()
        .regex(/^(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,6})?$/, 'must be a decimal amount of USDC like "100"')
        .refine((text) => !/^[0.]*$/.test(text), "must be above 0"),
      currency: z.literal("USDC", { error: 'must be "USDC"' }),
    }),
    z.strictObject({
      type: z.literal("badge_revocation"),
      revoke: z
        .array(badgeSchema)
        .min(1, "must name a badge")
        .refine((all) => new Set(all).size === all.length, "must not name a badge twice"),
    }),
  ],
  { error: "must have a type: trust_score_reduction, temporary_suspension, financial or badge_revocation" },
);

export type SlaPenalty = z.infer<typeof penaltySchema>;

const shareGuarantee = (metric: "uptime" | "success_rate") =>
  z
    .strictObject({
      metric: z.literal(metric),
      target: decimalShareSchema,
      measurement_window: windowSchema,
      breach_threshold: decimalShareSchema,
      penalty: penaltySchema,
    })
    .refine((it) => parseDecimal(it.breach_threshold) <= parseDecimal(it.target), {
      error: "must not be above the target",
      path: ["breach_threshold"],
    });

const windowSchema = z.enum(slaWindows, { error: `must be one of ${slaWindows.join(", ")}` });

const latencyGuarantee = (metric: "latency_p50" | "latency_p95" | "latency_p99") =>
  z
    .strictObject({
      metric: z.literal(metric),
      target: decimalSchema,
      unit: z.literal("milliseconds", { error: 'must be "milliseconds"' }),
      measurement_window: windowSchema,
      breach_threshold: decimalSchema,
      penalty: penaltySchema,
    })
    .refine((it) => parseDecimal(it.breach_threshold) >= parseDecimal(it.target), {
      error: "must not be below the target",
      path: ["breach_threshold"],
    });

const guaranteeSchema = z.discriminatedUnion(
  "metric",
  [
    shareGuarantee("uptime"),
    shareGuarantee("success_rate"),
    latencyGuarantee("latency_p50"),
    latencyGuarantee("latency_p95"),
    latencyGuarantee("latency_p99"),
  ],
  { error: `must have a metric: one of ${slaMetrics.join(", ")}` },
);

export type SlaGuarantee = z.infer<typeof guaranteeSchema>;

/** The name of a guarantee within its agent's SLA. */
export function guaranteeName({
  metric,
  measurement_window,
}: Pick<SlaGuarantee, "metric" | "measurement_window">): string {
  return `${metric}/${windowDays(measurement_window)}`;
}

/** The number of days of a window: `"30 days"` → `30`. */
export function windowDays(window: SlaWindow): number {
  return Number(window.slice(0, -" days".length));
}

/** The number of days in a suspension's `duration`: `"7 days"` → `7`. Null when the text has not this form. */
export function daysOf(duration: string): number | null {
  // Without a match this is NaN, which is not below any number.
  const days = Number(/^([1-9][0-9]?) days$/.exec(duration)?.[1]);
  return days <= MAX_SUSPENSION_DAYS ? days : null;
}

/**
 * The body of an `sla`: what an agent promises, and what a breach costs it (STEWARD). The highest `issued_at` (unix
 * seconds) wins. An SLA without guarantees withdraws the earlier one. Each metric and window has at most one
 * guarantee. `effective_date`, `breach_notification` and `dispute_resolution` are only shown. The record's position
 * and `params.steward` decide in their place.
 */
const slaFields = {
  agent_id: addressSchema,
  version: z.string().min(1, "must not be empty").max(64, "must have at most 64 characters"),
  effective_date: z.iso.date("must be a day like 2025-11-21").optional(),
  guarantees: z
    .array(guaranteeSchema)
    .refine(
      (all) => new Set(all.map(guaranteeName)).size === all.length,
      "must not have two guarantees of one metric and window",
    ),
  breach_notification: z
    .strictObject({
      notify_delegators: z.boolean(),
      notify_registry: z.boolean(),
      publish_breach_report: z.boolean(),
    })
    .optional(),
  dispute_resolution: z
    .strictObject({
      allowed: z.boolean(),
      review_period_days: z.int().min(1).max(90),
      arbitrator: z.string().min(1).max(128),
    })
    .optional(),
  monitoring_endpoint: endpointSchema.optional(),
  metrics_endpoint: endpointSchema.optional(),
  refresh_interval_seconds: z.int().min(60).max(86_400).optional(),
  issued_at: z.int().min(0, "must be unix seconds"),
};

const read = boundForm(slaFields);

export type Sla = ReturnType<typeof read>;

/**
 * Reads the body of an SLA.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseSla(body: RecordBody): Sla {
  return read(body);
}
