import * as z from "zod";

/**
 * The possible reasons for a decision of an auditor or an operator. This list is published. The text beside a
 * code is the auditor's own.
 */
export const auditReasonCodes = [
  /** Neither the seller nor the buyer showed the work. */
  "undisclosed",
  /**
   * The seller signed two receipts for one hire with different hashes. This reason comes from the rules and
   * never from an auditor.
   */
  "equivocation",
  "instructions_ignored",
  "missing_information",
  "factual_error",
  "fabricated",
  "off_topic",
  "wrong_language",
  "wrong_format",
  "truncated",
  "copied_input",
  "unsafe",
  "manipulates_judge",
  "meets_request",
  "ambiguous_request",
  "cannot_judge",
  "auditor_error",
  "other",
] as const;

export type AuditReasonCode = (typeof auditReasonCodes)[number];

/** The most reasons of one decision, and the most characters of the text beside a code. */
export const MAX_AUDIT_REASONS = 16;
export const MAX_AUDIT_DETAIL = 500;

const reasonSchema = z.strictObject({
  code: z.enum(auditReasonCodes, { error: `must be one of ${auditReasonCodes.join(", ")}` }),
  detail: z.string().max(MAX_AUDIT_DETAIL, `must have at most ${MAX_AUDIT_DETAIL} characters`),
});

/** The reasons of a verdict, as SHP §8.3.1 gives them: at least one. */
export const auditReasonsSchema = z
  .array(reasonSchema)
  .min(1, "must have at least one reason")
  .max(MAX_AUDIT_REASONS, `must have at most ${MAX_AUDIT_REASONS} reasons`);

export type AuditReason = z.infer<typeof reasonSchema>;
