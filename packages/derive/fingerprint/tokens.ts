import { parseUsdc } from "tallystick-protocol/amount";
import { endpointAddress } from "tallystick-protocol/records/listing";
import { type Sha256Hex, sha256HexByNoble } from "../sha256Hex.ts";
import type { Row } from "../tables.ts";

/**
 * The longest token that is kept as it is. A payment mode may have 2,048 characters, and an agent may have a hundred of
 * them. A listing may have to be compared with the tokens of thousands of agents. So a longer token is replaced by its
 * SHA-256.
 */
const MAX_LENGTH = 64;

/**
 * What an agent's live listings look like, as a sorted set of tokens (SHP §4.5.1). There is a token for each
 * capability, and for each host of an endpoint. For each capability there are tokens for its payment modes, and for
 * the order of magnitude of price and latency.
 */
export function tokensOf(listings: Row<"listing">[], sha256Hex: Sha256Hex = sha256HexByNoble): string[] {
  const tokens = new Set<string>();
  const add = (token: string) => tokens.add(token.length <= MAX_LENGTH ? token : sha256Hex(token, "utf8"));
  for (const { capability, priceUsdc, maxLatencyMs, paymentMode, endpoint } of listings) {
    add(`c|${capability}`);
    add(`p|${capability}|${bitLength(parseUsdc(priceUsdc))}`);
    add(`l|${capability}|${bitLength(BigInt(maxLatencyMs))}`);
    add(`m|${capability}|${paymentMode}`);
    add(`h|${endpointAddress(endpoint).host}`);
  }
  return [...tokens].sort();
}

function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

/** A cosine, as a fraction above 0 and at most 1. */
export type Similarity = { numerator: number; denominator: number };

/** The least number of tokens that two sets of these sizes must share for a cosine of at least `similarity`. Exact. */
export function neededOverlap(a: number, b: number, { numerator, denominator }: Similarity): number {
  // |A∩B| / √(|A||B|) ≥ n/d, so d²·|A∩B|² ≥ n²·|A||B|.
  const bound = BigInt(numerator) ** 2n * BigInt(a) * BigInt(b);
  const square = BigInt(denominator) ** 2n;
  const holds = (overlap: number) => square * BigInt(overlap) ** 2n >= bound;
  // Starts at the answer or right below it: rounding is far too small to lift the product to the next whole number.
  let overlap = Math.floor((numerator / denominator) * Math.sqrt(a * b));
  while (!holds(overlap)) overlap++;
  return overlap;
}

/**
 * Whether two sets share at least `needed` tokens. It stops as soon as too many are missing, because most sets that are
 * compared are not similar. So the text of the other set is read token by token.
 *
 * @param own sorted, as from {@link tokensOf}
 * @param other the tokens of the other set, sorted in the same way, one on each line
 * @param size the number of tokens of the other set
 */
export function sharesAtLeast(needed: number, own: readonly string[], other: string, size: number): boolean {
  let spare = size - needed;
  if (spare < 0) return false;
  let n = 0;
  for (let start = 0; start < other.length; ) {
    const next = other.indexOf("\n", start);
    const end = next < 0 ? other.length : next;
    let mine = own[n];
    if (mine !== undefined && mine.length === end - start && other.startsWith(mine, start)) n++;
    else {
      const token = other.slice(start, end);
      while (mine !== undefined && mine < token) mine = own[++n];
      if (mine === token) n++;
      else if (--spare < 0) return false;
    }
    start = end + 1;
  }
  return true;
}
