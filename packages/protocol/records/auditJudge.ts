import * as z from "zod";
import type { RecordBody } from "../json/recordBody.ts";
import { auditedHireSchema } from "./auditedHireSchema.ts";
import { auditRoundSchema } from "./auditVerdict.ts";
import { boundForm } from "./boundForm.ts";

/** The most models that judge together. */
export const MAX_AUDIT_MODELS = 8;

/**
 * The body of an `audit_judge`: the operator itself judges a round of a hire's audit, with the models that it names.
 * It may do so while the capability is in bootstrap mode and nobody can be assigned (SHP §8.3.4.2). Nodes show such a
 * verdict with `auditor_type: "operator-issued"`.
 */
const auditJudgeFields = {
  hire: auditedHireSchema,
  round: auditRoundSchema,
  models: z
    .array(z.string().min(1, "must not be empty").max(128, "must have at most 128 characters"))
    .min(1, "must name at least one model")
    .max(MAX_AUDIT_MODELS, `must have at most ${MAX_AUDIT_MODELS} models`),
};

const read = boundForm(auditJudgeFields);

export type AuditJudge = ReturnType<typeof read>;

/**
 * Reads the body of an operator's own assignment.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseAuditJudge(body: RecordBody): AuditJudge {
  return read(body);
}
