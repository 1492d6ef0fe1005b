import * as z from "zod";
import { hash32Schema } from "../hash32Schema.ts";
import type { RecordBody } from "../json/recordBody.ts";
import { auditedHireSchema } from "./auditedHireSchema.ts";
import { auditReasonsSchema } from "./auditReasons.ts";
import { boundForm } from "./boundForm.ts";

/** The most rounds of an audit, and the most attempts of a round, that a record may name. The rules may allow fewer. */
export const MAX_AUDIT_ROUNDS = 16;
export const MAX_AUDIT_ATTEMPTS = 16;

export const auditRoundSchema = z.int().min(1, "must be 1 or more").max(MAX_AUDIT_ROUNDS);

/**
 * The body of an `audit_verdict`: what an assigned auditor found (SHP §8.3.1). `params_hash` and `result_hash` say
 * which bytes it judged. They are the same as in the receipt.
 */
const auditVerdictFields = {
  hire: auditedHireSchema,
  round: auditRoundSchema,
  attempt: z.int().min(1, "must be 1 or more").max(MAX_AUDIT_ATTEMPTS),
  verdict: z.enum(["pass", "fail", "inconclusive"], { error: 'must be "pass", "fail" or "inconclusive"' }),
  reasons: auditReasonsSchema,
  params_hash: hash32Schema,
  result_hash: hash32Schema,
};

const read = boundForm(auditVerdictFields);

export type AuditVerdict = ReturnType<typeof read>;

/**
 * Reads the body of an audit's verdict.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseAuditVerdict(body: RecordBody): AuditVerdict {
  return read(body);
}
