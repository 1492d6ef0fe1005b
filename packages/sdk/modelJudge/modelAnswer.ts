import { type AuditReasonCode, auditReasonCodes } from "tallystick-protocol/records/auditReasons";
import * as z from "zod";

/** The codes that a model may give. The other codes are reserved for the rules and for the auditor itself. */
const modelCode = z.enum(auditReasonCodes).exclude(["undisclosed", "equivocation", "auditor_error", "other"]);

/** Codes that do not object to the work. */
const HARMLESS: readonly AuditReasonCode[] = ["meets_request", "ambiguous_request", "cannot_judge"];

/** The form of an answer. Every field is required, because the vendors' strict modes need this. */
export const modelAnswerSchema = z.strictObject({
  nonce: z.string(),
  verdict: z.enum(["pass", "fail", "inconclusive"]),
  reasons: z.array(modelCode),
  explanation: z.string(),
});

/** One model's opinion. `explanation` is the model's own text, which stays with the auditor. */
export type Opinion = {
  model: string;
  verdict: "pass" | "fail" | "inconclusive";
  codes: AuditReasonCode[];
  explanation: string;
  /** Why the answer counts as inconclusive: it was in another form, or it contradicted itself. */
  refused?: string;
  tokens: number;
};

/** The longest explanation that is kept, in characters, and the most codes. */
const MAX_EXPLANATION = 2_000;
const MAX_CODES = 4;

/** Makes an opinion of an answer. An answer without the nonce, or one that contradicts itself, is inconclusive. */
export function opinionOf(value: unknown, nonce: string, model: string, tokens: number): Opinion {
  const read = modelAnswerSchema.safeParse(value);
  if (!read.success) return noOpinion(model, "not_the_schema", tokens);
  const { verdict, reasons, explanation } = read.data;
  const codes = [...new Set(reasons)].slice(0, MAX_CODES);
  if (read.data.nonce !== nonce) return noOpinion(model, "not_the_nonce", tokens);
  const isAgainst = codes.some((code) => !HARMLESS.includes(code));
  if (verdict === "fail" && !isAgainst) return noOpinion(model, "fail_without_reason", tokens);
  if (verdict === "pass" && isAgainst) return noOpinion(model, "pass_with_faults", tokens);
  return { model, verdict, codes, explanation: explanation.slice(0, MAX_EXPLANATION), tokens };
}

/** The opinion of a model without a usable answer: inconclusive. `refused` is the reason as a code. */
export function noOpinion(model: string, refused: string, tokens: number): Opinion {
  return { model, verdict: "inconclusive", codes: ["cannot_judge"], explanation: "", refused, tokens };
}
