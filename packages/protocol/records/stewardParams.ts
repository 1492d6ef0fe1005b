import * as z from "zod";
import { addressSchema } from "../address.ts";
import { capabilitySchema } from "../capabilitySchema.ts";
import { decimalSchema, parseDecimal } from "./decimalSchema.ts";

/** The largest number of trusted accounts of each kind. Each prober adds one read for each host and slot. */
const MAX_ROOTS = 32;

const roots = z
  .array(addressSchema)
  .max(MAX_ROOTS, `must have at most ${MAX_ROOTS} addresses`)
  .refine((all) => new Set(all).size === all.length, "must not name an address twice")
  .default([]);
const seconds = z.int().positive().max(31_536_000, "must be at most a year");

/** The most capabilities whose difficulty is published. */
const MAX_DIFFICULTIES = 256;
/** The highest difficulty, in units of 10⁻⁹. */
const MAX_DIFFICULTY = 100_000_000_000n;

const difficultySchema = decimalSchema.refine((text) => {
  const nano = parseDecimal(text);
  return nano > 0n && nano <= MAX_DIFFICULTY;
}, "must be above 0 and at most 100");

/**
 * The accounts that the trust score trusts, and its time limits (STEWARD). Without probers the uptime is
 * unknown. Times are seconds. The weights of the score are part of its algorithm, and not parameters.
 */
export const stewardParamsSchema = z.strictObject({
  /** Whose attestations of an agent's tests count in addition to its own. */
  attestors: roots,
  /** Who checks whether hosts answer. */
  probers: roots,
  /** Who rules on breaches of SLAs. */
  arbitrators: roots,
  /** The time after a breach's notice in which its agent may contest it, and the time for a ruling. */
  disputeSeconds: seconds.default(604_800),
  reviewSeconds: seconds.default(604_800),
  /** A suspension begins this long after its notice. */
  suspensionNoticeSeconds: seconds.default(86_400),
  /** How long a guarantee still binds after its agent weakened or dropped it. */
  replacedSeconds: seconds.default(2_592_000),
  /** How much a hire of a capability weighs in `difficultySuccess`, as a decimal; 1 if the capability is not named. */
  difficulty: z
    .record(capabilitySchema, difficultySchema)
    .refine(
      (all) => Object.keys(all).length <= MAX_DIFFICULTIES,
      `must have at most ${MAX_DIFFICULTIES} capabilities`,
    )
    .default({}),
});

export type StewardParams = z.infer<typeof stewardParamsSchema>;
