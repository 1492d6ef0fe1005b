import { utf8ToBytes } from "@noble/hashes/utils.js";
import canonicalize from "canonicalize";
import { InvalidInputError } from "../errors.ts";
import type { TrustReportVerification } from "./trustReport.ts";

/** What the signed bytes begin with: so that a signature over a report is never one over something else. */
const DOMAIN = "tallystick/trust-report/v1\n";

/**
 * The bytes that a trust report's signature is over: `tallystick/trust-report/v1`, a line feed, and the RFC 8785 bytes of the report, `verification`
 * without its `signature` and its `verification_url`, which is whatever address the node was asked at.
 *
 * @throws InvalidInputError for what is no JSON
 */
export function signedBytes({
  verification,
  ...report
}: {
  verification: Partial<TrustReportVerification>;
  [field: string]: unknown;
}): Uint8Array {
  const { signature: _, verification_url: __, ...named } = verification;
  const text = canonicalize({ ...report, verification: named });
  if (text === undefined)
    throw new InvalidInputError({ issues: [{ field: "trust_report", message: "must be JSON" }] });
  return utf8ToBytes(DOMAIN + text);
}
