import * as z from "zod";
import { addressSchema } from "../address.ts";
import { capabilitySchema } from "../capabilitySchema.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "./boundForm.ts";
import { endpointSchema } from "./listing.ts";

/** The most capabilities that one auditor judges. */
export const MAX_AUDITED_CAPABILITIES = 32;

/**
 * The body of an `auditor`: an agent offers to judge hires of these capabilities for an operator of audits, or
 * withdraws (SHP §8.3.1). For one agent and operator the highest `issued_at` (unix seconds) wins. The operator hires it
 * at `endpoint`.
 */
const auditorFields = {
  agent_id: addressSchema,
  operator: addressSchema,
  capabilities: z
    .array(capabilitySchema)
    .max(MAX_AUDITED_CAPABILITIES, `must have at most ${MAX_AUDITED_CAPABILITIES} capabilities`)
    .refine((all) => new Set(all).size === all.length, "must not name a capability twice"),
  endpoint: endpointSchema,
  active: z.boolean(),
  issued_at: z.int().min(0, "must be unix seconds"),
};

const read = boundForm(auditorFields);

export type Auditor = ReturnType<typeof read>;

/**
 * Reads the body of an auditor's offer.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseAuditor(body: RecordBody): Auditor {
  return read(body);
}
