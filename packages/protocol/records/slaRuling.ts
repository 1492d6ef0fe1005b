import * as z from "zod";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "./boundForm.ts";
import { breachIdSchema } from "./breachId.ts";

/** The possible excuses for a breach. */
export const slaExcuses = [
  "registry_outage",
  "natural_disaster",
  "mitigated_ddos",
  "government_shutdown",
] as const;

/**
 * The body of an `sla_ruling`: what an arbitrator of `params.steward.arbitrators` decides about a breach (STEWARD).
 * `reinstated` gives back the badges that the breach took.
 */
const slaRulingFields = {
  breach: breachIdSchema,
  ruling: z.enum(["upheld", "overturned", "reinstated"], {
    error: 'must be "upheld", "overturned" or "reinstated"',
  }),
  reasons: z.string().min(1, "must not be empty").max(2_000, "must have at most 2000 characters"),
  excuse: z.enum(slaExcuses, { error: `must be one of ${slaExcuses.join(", ")}` }).optional(),
};

const read = boundForm(slaRulingFields);

export type SlaRuling = ReturnType<typeof read>;

/**
 * Reads the body of a ruling.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseSlaRuling(body: RecordBody): SlaRuling {
  return read(body);
}
