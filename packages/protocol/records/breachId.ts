import * as z from "zod";
import { base32 } from "../base32.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";

/** The id of an SLA's breach. */
export const breachIdSchema = z
  .string()
  .regex(/^brch_[0-9A-HJKMNP-TV-Z]{26}$/, "must be a breach's id: brch_ and 26 characters of base 32");

/**
 * The id of a breach: `brch_` and the first 26 Crockford base 32 characters of a SHA-256. The hashed text has the
 * agent, the guarantee and the time of the detection, separated by slashes.
 *
 * @param guarantee `<metric>/<window>` as in the SLA
 * @param detected unix seconds
 */
export function breachId(
  { agent, guarantee, detected }: { agent: string; guarantee: string; detected: number },
  sha256: Sha256 = sha256ByNoble,
): string {
  return `brch_${base32(sha256(`${agent}/${guarantee}/${detected}`)).slice(0, 26)}`;
}
