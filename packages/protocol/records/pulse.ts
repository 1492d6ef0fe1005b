import * as z from "zod";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForms } from "./boundForms.ts";

/**
 * The body of a `pulse`. At `verified_at` (unix seconds) the writer had read its ledger back from disk. It had found
 * the first `size` entries whole, with this RFC 6962 root (swarm.at §12).
 */
const pulseFields = {
  size: z.int().min(0),
  root: z.string().regex(/^0x[0-9a-f]{64}$/, "must be 0x and 64 lower-case hex digits"),
  verified_at: z.int().min(0, "must be unix seconds"),
};

const read = boundForms(pulseFields);

export type Pulse = ReturnType<typeof read>;

/**
 * Reads the body of a pulse.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parsePulse(body: RecordBody): Pulse {
  return read(body);
}
