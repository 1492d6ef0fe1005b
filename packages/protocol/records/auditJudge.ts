import * as z from "zod";
import type { RecordBody } from "../json/recordBody.ts";
import { auditedHireSchema } from "./auditedHireSchema.ts";
import { auditRoundSchema } from "./auditVerdict.ts";
import { boundForm } from "./boundForm.ts";

/** The most models that judge together. */
export const MAX_AUDIT_MODELS = 8;

/**
 * The body of an `audit_judge`: the operator assigns a round of a hire's audit to itself, and names the models that
 * judge. It may do so while the capability is in bootstrap mode, after a long time in which nobody else could be
 * assigned (SHP §8.3.4.2). The verdict comes in a record of its own. Nodes show such an assignment with
 * `auditor_type: "operator-issued"`.
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
 * Reads the body of a record by which an operator assigns a round to itself.
 *
 * @throws InvalidInputError naming every wrong field, prefixed with `body.`
 */
export function parseAuditJudge(body: RecordBody): AuditJudge {
  return read(body);
}
