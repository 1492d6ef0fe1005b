import { base32 } from "../base32.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";

/**
 * The token of an assigned audit (SHP §8.3.1): `audt_` and the first 26 Crockford base 32 characters of the SHA-256
 * of hire, round, attempt and auditor, separated by slashes. Anyone who sees the assignment can compute it. It is
 * used up by the one verdict that the auditor signs.
 *
 * @param sha256 how it is hashed; in plain JavaScript unless the caller has something faster
 * @example auditToken({ hire: "0x…-3", round: 1, attempt: 1, auditor: "0x…" }) // "audt_…", 31 characters
 */
export function auditToken(
  { hire, round, attempt, auditor }: { hire: string; round: number; attempt: number; auditor: string },
  sha256: Sha256 = sha256ByNoble,
): string {
  return `audt_${base32(sha256(`${hire}/${round}/${attempt}/${auditor}`)).slice(0, 26)}`;
}
