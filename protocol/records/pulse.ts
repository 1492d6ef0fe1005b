import { z } from "zod";
import { invalidInputFromZod } from "../errors.ts";
import type { RecordBody } from "../json/recordBody.ts";

/**
 * The body of a `pulse`: at `verified_at` (unix seconds) the writer had read its ledger back from disk and found the
 * first `size` entries whole, with this RFC 6962 root (swarm.at §12).
 */
export const pulseSchema = z.looseObject({
  size: z.int().min(0),
  root: z.string().regex(/^0x[0-9a-f]{64}$/, "must be 0x and 64 lower-case hex digits"),
  verified_at: z.int().min(0, "must be unix seconds"),
});

export type Pulse = z.output<typeof pulseSchema>;

/**
 * Reads the body of a pulse.
 *
 * @throws InvalidInputError naming every field at fault, prefixed with `body.`
 */
export function parsePulse(body: RecordBody): Pulse {
  const result = pulseSchema.safeParse(body);
  if (!result.success) throw invalidInputFromZod(result.error, "body");
  return result.data;
}
