import * as z from "zod";
import { capabilitySchema } from "../capabilitySchema.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { boundForm } from "./boundForm.ts";

/**
 * The body of an `audit_mode`: the operator takes a capability back to bootstrap mode, and says why in public
 * (SHP §8.3.4.3). A capability becomes mature without a record.
 */
const auditModeFields = {
  capability: capabilitySchema,
  mode: z.literal("bootstrap", { error: 'must be "bootstrap": a capability becomes mature by itself' }),
  justification: z.string().min(1, "must not be empty").max(2_000, "must have at most 2000 characters"),
};

const read = boundForm(auditModeFields);

export type AuditMode = ReturnType<typeof read>;

/**
 * Reads the body of a change of mode.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseAuditMode(body: RecordBody): AuditMode {
  return read(body);
}
