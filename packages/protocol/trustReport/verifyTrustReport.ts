import { ed25519 } from "@noble/curves/ed25519.js";
import { hexToBytes } from "@noble/hashes/utils.js";
import * as z from "zod";
import { addressSchema } from "../address.ts";
import { invalidInputFromZod } from "../errors.ts";
import { toSeconds } from "../records/completedAt.ts";
import { namedKey } from "./reportKey.ts";
import { signedBytes } from "./signedBytes.ts";
import type { TrustReport } from "./trustReport.ts";

const hex = (digits: number) =>
  z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`), `must be ${digits} lower-case hex digits`);

const schema = z.strictObject({
  trust_report: z.looseObject({
    agent_id: addressSchema,
    report_date: z
      .string()
      .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, "must be a UTC time such as 2026-01-31T12:00:00Z")
      .refine((text) => toSeconds(text) !== undefined, "is no time of the calendar")
      .optional(),
    verification: z.object({
      algorithm: z.literal("Ed25519", { error: 'must be "Ed25519"' }),
      signature: hex(128),
      signed_by: z.string().regex(/^sha256:[0-9a-f]{64}$/, "must be sha256: and 64 hex digits"),
      public_key: hex(64),
      verification_url: z.string(),
    }),
  }),
});

/** The result of checking a trust report. */
export type TrustReportVerdict = {
  /** True if the key in the report signed it, is the expected key (if one was given), and the report is not too old. */
  isValid: boolean;
  /** Why the report is not valid. */
  reason?: "signed_by" | "other_key" | "signature" | "too_old" | "not_dated";
  agent: string;
  /**
   * When the score was computed, in UTC; null in a report without a date. The signature covers it. A signature never
   * expires, so an agent that has become worse can still show an old report.
   */
  reportDate: string | null;
  /**
   * The key that the report names, 64 hex digits. Compare it with the node's agent card, unless you gave the expected
   * key.
   */
  publicKey: string;
};

/** What a reader of a trust report knows. */
export type TrustReportExpectation = {
  /** The node's key, 64 hex digits, as its agent card has it. */
  publicKey?: string | undefined;
  /** No report from before this time is accepted, in Unix seconds. */
  notBefore?: number | undefined;
};

/**
 * Checks a trust report, offline. Without an expected key anybody may have signed it: then the result shows only that
 * nobody changed the report after it was signed, and which key signed it.
 *
 * @throws InvalidInputError naming every wrong field
 */
export function verifyTrustReport(
  document: unknown,
  { publicKey, notBefore }: TrustReportExpectation = {},
): TrustReportVerdict {
  const read = schema.safeParse(document);
  if (!read.success) throw invalidInputFromZod(read.error);
  // The original report is checked, because a schema may drop or change keys, and so change the signed bytes.
  const report = (document as TrustReport).trust_report;
  const { agent_id: agent, verification, report_date: reportDate = null } = read.data.trust_report;
  const { public_key: named, signed_by, signature } = verification;
  const verdict = (reason?: NonNullable<TrustReportVerdict["reason"]>): TrustReportVerdict => ({
    isValid: reason === undefined,
    ...(reason !== undefined && { reason }),
    agent,
    reportDate,
    publicKey: named,
  });
  if (publicKey !== undefined && publicKey.toLowerCase().replace(/^0x/, "") !== named)
    return verdict("other_key");
  if (namedKey(hexToBytes(named)).signed_by !== signed_by) return verdict("signed_by");
  if (!isSigned(signature, report, named)) return verdict("signature");
  if (notBefore === undefined) return verdict();
  if (reportDate === null) return verdict("not_dated");
  return verdict(Date.parse(reportDate) / 1_000 < notBefore ? "too_old" : undefined);
}

/** A key that is not a point of the curve has signed nothing. */
function isSigned(signature: string, report: TrustReport["trust_report"], publicKey: string): boolean {
  const bytes = signedBytes(report);
  try {
    // Strict, as in RFC 8032. With a key of small order, one signature would otherwise fit many texts.
    return ed25519.verify(hexToBytes(signature), bytes, hexToBytes(publicKey), { zip215: false });
  } catch {
    return false;
  }
}
