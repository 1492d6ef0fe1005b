import * as z from "zod";
import { addressSchema } from "../address.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "./boundForm.ts";
import { decimalSchema } from "./decimalSchema.ts";
import { endpointSchema } from "./listing.ts";
import { slaMetrics, slaWindows } from "./sla.ts";

/** The most agents of one record. */
export const MAX_MONITORED_AGENTS = 100;
/** The most records of one day's report. */
const MAX_PARTS = 1_024;

/** A figure of a guarantee: a share, or milliseconds; null for none. */
const figureSchema = decimalSchema.nullable();

const differenceSchema = z.strictObject({
  metric: z.enum(slaMetrics),
  measurement_window: z.enum(slaWindows),
  /** The node's value at the time when the endpoint was asked. */
  measured: figureSchema,
  /** The endpoint's own value. */
  claimed: figureSchema,
});

/** One guarantee for which an agent's own endpoint gives another value than was measured. */
export type MonitoringDifference = z.infer<typeof differenceSchema>;

const agentSchema = z.strictObject({
  endpoint: endpointSchema,
  asked_at: z.int().min(0, "must be unix seconds"),
  /** Empty: the differences of an earlier record no longer exist. */
  differences: z
    .array(differenceSchema)
    .refine(
      (all) =>
        new Set(all.map(({ metric, measurement_window: window }) => `${metric}/${window}`)).size ===
        all.length,
      "must not have two guarantees of one metric and window",
    ),
});

/**
 * The body of a `monitoring`: the differences that a prober of `params.steward.probers` found. The prober asks the
 * endpoints at which agents report how they keep their SLAs (STEWARD T026). The record has the agents whose report
 * differs from the measured values. `day` is unix seconds / 86400. Agents that do not fit into one record are in
 * further parts.
 */
const monitoringFields = {
  day: z.int().min(0).max(1_000_000, "must be the number of a day: unix seconds / 86400"),
  part: z
    .int()
    .min(0)
    .max(MAX_PARTS - 1, `must be less than ${MAX_PARTS}`),
  agents: z
    .record(addressSchema, agentSchema)
    .refine((all) => Object.keys(all).length > 0, "must have at least one agent")
    .refine(
      (all) => Object.keys(all).length <= MAX_MONITORED_AGENTS,
      `must have at most ${MAX_MONITORED_AGENTS} agents`,
    ),
};

const read = boundForm(monitoringFields);

export type Monitoring = ReturnType<typeof read>;

/**
 * Reads the body of a `monitoring`.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseMonitoring(body: RecordBody): Monitoring {
  return read(body);
}
