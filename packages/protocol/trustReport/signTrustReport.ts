import { ed25519 } from "@noble/curves/ed25519.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import { reportKeyOf } from "./reportKey.ts";
import { signedBytes } from "./signedBytes.ts";
import type { TrustReport } from "./trustReport.ts";

/**
 * Signs a node's report about an agent.
 *
 * @param report JSON, without `verification`
 * @param parameters.secretKey 32 bytes
 * @param parameters.verificationUrl where the node names its key
 */
export function signTrustReport<Report extends { agent_id: string }>(
  report: Report,
  { secretKey, verificationUrl }: { secretKey: Uint8Array; verificationUrl: string },
): TrustReport & { trust_report: Report } {
  const key = reportKeyOf(secretKey);
  const signature = bytesToHex(ed25519.sign(signedBytes({ ...report, verification: key }), secretKey));
  const verification = { ...key, signature, verification_url: verificationUrl };
  return { trust_report: { ...report, verification } };
}
