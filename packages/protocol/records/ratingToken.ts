import { base32 } from "../base32.ts";
import { type Sha256, sha256ByNoble } from "../sha256.ts";
import type { RatingSide } from "./rating.ts";

/**
 * The single-use token of a rating (SHP §9.1): `rtt_` and the first 26 Crockford base 32 characters of the SHA-256 of
 * the receipt's entry hash (its 64 hex digits as text) followed by the side. Anyone who has the receipt can compute
 * it. It is used up by the one rating that this side signs.
 *
 * @param receipt entry hash of the receipt: 64 lower-case hex digits
 * @param sha256 how it is hashed; in plain JavaScript unless the caller has something faster
 * @example ratingToken("00…00", "buyer") // "rtt_…", 30 characters
 */
export function ratingToken(receipt: string, side: RatingSide, sha256: Sha256 = sha256ByNoble): string {
  return `rtt_${base32(sha256(`${receipt}${side}`)).slice(0, 26)}`;
}
