import * as z from "zod";
import { addressSchema } from "../address.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "./boundForm.ts";
import { breachIdSchema } from "./breachId.ts";
import { endpointSchema } from "./listing.ts";

/**
 * The body of an `sla_dispute`: an agent contests a detected breach (STEWARD). It may contest each breach once. The
 * hash of the record's entry is the dispute's id.
 */
const slaDisputeFields = {
  breach: breachIdSchema,
  agent_id: addressSchema,
  claim: z.string().min(1, "must not be empty").max(2_000, "must have at most 2000 characters"),
  evidence: z.array(endpointSchema).max(16, "must have at most 16 addresses"),
  requested_remedy: z.literal("remove_penalty", { error: 'must be "remove_penalty"' }),
};

const read = boundForm(slaDisputeFields);

export type SlaDispute = ReturnType<typeof read>;

/**
 * Reads the body of a dispute.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseSlaDispute(body: RecordBody): SlaDispute {
  return read(body);
}
