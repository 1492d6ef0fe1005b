import * as z from "zod";
import type { RecordBody } from "../json/recordBody.ts";
import { auditedHireSchema } from "./auditedHireSchema.ts";
import { auditReasonsSchema } from "./auditReasons.ts";
import { boundForm } from "./boundForm.ts";

/**
 * The body of an `audit_actuation`. In bootstrap mode the operator decides whether a challenged hire is rolled back,
 * and says why (SHP §8.3.4.2).
 */
const auditActuationFields = {
  hire: auditedHireSchema,
  decision: z.enum(["rollback", "dismiss"], { error: 'must be "rollback" or "dismiss"' }),
  reasons: auditReasonsSchema,
};

const read = boundForm(auditActuationFields);

export type AuditActuation = ReturnType<typeof read>;

/**
 * Reads the body of an operator's decision.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseAuditActuation(body: RecordBody): AuditActuation {
  return read(body);
}
