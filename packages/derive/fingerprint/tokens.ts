import { parseUsdc } from "tallystick-protocol/amount";
import type { Row } from "../tables.ts";

/**
 * What an agent's live listings look like, as a sorted set of tokens (SHP §4.5.1). There is a token for each
 * capability, and for each host of an endpoint. For each capability there are tokens for its payment modes, and for
 * the order of magnitude of price and latency.
 */
export function tokensOf(listings: Row<"listing">[]): string[] {
  const tokens = new Set<string>();
  for (const { capability, priceUsdc, maxLatencyMs, paymentMode, endpoint } of listings) {
    tokens.add(`c|${capability}`);
    tokens.add(`p|${capability}|${bitLength(parseUsdc(priceUsdc))}`);
    tokens.add(`l|${capability}|${bitLength(BigInt(maxLatencyMs))}`);
    tokens.add(`m|${capability}|${paymentMode}`);
    tokens.add(`h|${new URL(endpoint).host}`);
  }
  return [...tokens].sort();
}

function bitLength(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}

/** How many tokens two sets of these sizes must share at least for a cosine of `similarity` or more, exactly. */
export function neededOverlap(
  a: number,
  b: number,
  { numerator, denominator }: { numerator: number; denominator: number },
): number {
  // |A∩B| / √(|A||B|) ≥ n/d, so d²·|A∩B|² ≥ n²·|A||B|.
  const bound = BigInt(numerator) ** 2n * BigInt(a) * BigInt(b);
  const square = BigInt(denominator) ** 2n;
  const holds = (overlap: number) => square * BigInt(overlap) ** 2n >= bound;
  // Starts near the answer, and finds it exactly.
  let overlap = Math.floor((numerator / denominator) * Math.sqrt(a * b));
  while (overlap > 0 && holds(overlap - 1)) overlap--;
  while (!holds(overlap)) overlap++;
  return overlap;
}

/** Whether two sets share at least `needed` tokens. It stops as soon as too many are missing. */
export function sharesAtLeast(needed: number, a: ReadonlySet<string>, b: readonly string[]): boolean {
  let missing = 0;
  for (const token of b) if (!a.has(token) && ++missing > b.length - needed) return false;
  return b.length >= needed;
}
