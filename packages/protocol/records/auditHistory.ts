import type { RecordBody } from "../json/recordBody.ts";
import { auditedHireSchema } from "./auditedHireSchema.ts";
import { boundForm } from "./boundForm.ts";

/**
 * The body of an `audit_history`. When a capability is mature, its operator lets auditors judge an earlier
 * challenged hire again. Their verdicts are compared with the operator's own decisions (SHP §8.3.4.2).
 */
const auditHistoryFields = { hire: auditedHireSchema };

const read = boundForm(auditHistoryFields);

export type AuditHistory = ReturnType<typeof read>;

/**
 * Reads the body of a request to judge a challenged hire again.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseAuditHistory(body: RecordBody): AuditHistory {
  return read(body);
}
