import * as z from "zod";
import { addressSchema } from "../address.ts";

/** Most roots of each kind: a slot of a host costs what its probers are. */
const MAX_ROOTS = 32;

const roots = z
  .array(addressSchema)
  .max(MAX_ROOTS, `must have at most ${MAX_ROOTS} addresses`)
  .refine((all) => new Set(all).size === all.length, "must not name an address twice")
  .default([]);
const seconds = z.int().positive().max(31_536_000, "must be at most a year");

/**
 * Whom the second trust model listens to, and how long what takes in it (STEWARD). Without probers nothing is known of uptime. Times are
 * seconds. The weights of the score are its algorithm's and no parameters.
 */
export const stewardParamsSchema = z.strictObject({
  /** Whose attestations of an agent's tests count beside its own. */
  attestors: roots,
  /** Who looks whether hosts answer. */
  probers: roots,
  /** Who rules on breaches of SLAs. */
  arbitrators: roots,
  /** How long after its notice an agent may contest a breach, and how long a ruling has. */
  disputeSeconds: seconds.default(604_800),
  reviewSeconds: seconds.default(604_800),
  /** A suspension begins so long after its notice. */
  suspensionNoticeSeconds: seconds.default(86_400),
  /** How long a guarantee binds that an agent weakened or dropped. */
  replacedSeconds: seconds.default(2_592_000),
});

export type StewardParams = z.infer<typeof stewardParamsSchema>;
