import { ed25519 } from "@noble/curves/ed25519.js";
import { hexToBytes } from "@noble/hashes/utils.js";
import * as z from "zod";
import { addressSchema } from "../address.ts";
import { invalidInputFromZod } from "../errors.ts";
import { namedKey } from "./reportKey.ts";
import { signedBytes } from "./signedBytes.ts";
import type { TrustReport } from "./trustReport.ts";

const hex = (digits: number) =>
  z.string().regex(new RegExp(`^[0-9a-f]{${digits}}$`), `must be ${digits} lower-case hex digits`);

const schema = z.strictObject({
  trust_report: z.looseObject({
    agent_id: addressSchema,
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
  /** Whether the key that the report names signed it, and is the expected key if one was given. */
  isValid: boolean;
  /** Why not. */
  reason?: "signed_by" | "other_key" | "signature";
  agent: string;
  /**
   * The key that the report names, 64 hex digits. Compare it with the node's agent card, unless you gave the expected key.
   */
  publicKey: string;
};

/**
 * Checks a trust report, offline. Without an expected key anybody may have signed it: then the result says that the report
 * is whole, and which key signed it.
 *
 * @param publicKey the node's key, 64 hex digits, as its agent card has it
 * @throws InvalidInputError naming every field at fault
 */
export function verifyTrustReport(document: unknown, publicKey?: string): TrustReportVerdict {
  const read = schema.safeParse(document);
  if (!read.success) throw invalidInputFromZod(read.error);
  // Checked as it came: a schema that drops or changes a key would change the signed bytes.
  const report = (document as TrustReport).trust_report;
  const { agent_id: agent, verification } = read.data.trust_report;
  const { public_key: named, signed_by, signature } = verification;
  const verdict = (reason?: NonNullable<TrustReportVerdict["reason"]>): TrustReportVerdict => ({
    isValid: reason === undefined,
    ...(reason !== undefined && { reason }),
    agent,
    publicKey: named,
  });
  if (publicKey !== undefined && publicKey.toLowerCase().replace(/^0x/, "") !== named)
    return verdict("other_key");
  if (namedKey(hexToBytes(named)).signed_by !== signed_by) return verdict("signed_by");
  return verdict(isSigned(signature, report, named) ? undefined : "signature");
}

/** A key that is no point of the curve has signed nothing. */
function isSigned(signature: string, report: TrustReport["trust_report"], publicKey: string): boolean {
  const bytes = signedBytes(report);
  try {
    // As RFC 8032 has it: strict about keys of small order, with which one signature fits many texts.
    return ed25519.verify(hexToBytes(signature), bytes, hexToBytes(publicKey), { zip215: false });
  } catch {
    return false;
  }
}
