import * as z from "zod";
import { addressSchema } from "../address.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "./boundForm.ts";

/** The most hosts of one record, and also the most agents. */
export const MAX_PROBED_HOSTS = 1_000;
/** The most hosts that serve one agent. */
export const MAX_HOSTS_OF_AGENT = 16;
/** The most records of one hour's report. */
const MAX_PARTS = 1_024;

/** Slots of five minutes in an hour. */
export const SLOTS_PER_HOUR = 12;

const hostSchema = z
  .string()
  .max(261, "must have at most 261 characters")
  .regex(
    /^(?:[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\]):[1-9][0-9]{0,4}$/,
    "must be host:port in lower case, the port always named",
  );

/** The first slot of the hour is the lowest bit. */
const slotsSchema = z.int().min(0).max(0xfff, "must have 12 bits: one for each five minutes of the hour");

/** The slots in which a prober looked, and those in which it found the host down. */
const observationSchema = z
  .tuple([slotsSchema, slotsSchema])
  .refine(([looked, down]) => (down & ~looked) === 0, "must be down only in slots in which it looked");

const hasAtMost = (most: number) => (record: object) => Object.keys(record).length <= most;

/**
 * The body of an `uptime`: what a prober of `params.steward.probers` saw in one hour (STEWARD). An agent can report its
 * own hosts in the same form. `hour` is unix seconds / 3600. Hosts that do not fit into one record are in further
 * parts. If a prober or an agent reports a host twice for one hour, the first record counts.
 */
const uptimeFields = {
  hour: z.int().min(0).max(10_000_000, "must be the number of an hour: unix seconds / 3600"),
  region: z.string().regex(/^[a-z0-9-]{1,32}$/, "must be lower-case letters, digits and hyphens, at most 32"),
  part: z
    .int()
    .min(0)
    .max(MAX_PARTS - 1, `must be less than ${MAX_PARTS}`),
  hosts: z
    .record(hostSchema, observationSchema)
    .refine(hasAtMost(MAX_PROBED_HOSTS), `must have at most ${MAX_PROBED_HOSTS} hosts`),
  /**
   * The hosts that serve each agent: a host serves an agent if its 402 answer names this agent or its payee
   * as receiver. Reported once a day.
   */
  served: z
    .record(
      addressSchema,
      z
        .array(hostSchema)
        .min(1, "must have at least one host")
        .max(MAX_HOSTS_OF_AGENT, `must have at most ${MAX_HOSTS_OF_AGENT} hosts`)
        .refine((all) => new Set(all).size === all.length, "must not name a host twice"),
    )
    .refine(hasAtMost(MAX_PROBED_HOSTS), `must have at most ${MAX_PROBED_HOSTS} agents`),
};

const read = boundForm(uptimeFields);

export type Uptime = ReturnType<typeof read>;

/**
 * Reads the body of a prober's or an agent's report.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseUptime(body: RecordBody): Uptime {
  return read(body);
}
