import { utf8ToBytes } from "@noble/hashes/utils.js";
import canonicalize from "canonicalize";
import { InvalidInputError } from "../errors.ts";
import type { TrustReportVerification } from "./trustReport.ts";

/** The prefix of the signed bytes: a signature over a report is never a signature over something else. */
const DOMAIN = "tallystick/trust-report/v1\n";

/**
 * The bytes that a trust report's signature covers: `tallystick/trust-report/v1`, a line feed, and the RFC
 * 8785 bytes of the report. `verification` is in them without its `signature` and without its
 * `verification_url`, which is the address of the request to the node.
 *
 * @throws InvalidInputError for a value that is not JSON
 */
export function signedBytes({
  verification,
  ...report
}: {
  verification: Partial<TrustReportVerification>;
  [field: string]: unknown;
}): Uint8Array {
  const { signature: _, verification_url: __, ...named } = verification;
  try {
    return utf8ToBytes(DOMAIN + canonicalize({ ...report, verification: named }));
  } catch (cause) {
    // JSON.parse makes infinity of a number like 1e999.
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new InvalidInputError({
      issues: [{ field: "trust_report", message: `must be JSON: ${reason}` }],
      cause,
    });
  }
}
