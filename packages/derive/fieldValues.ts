import { formatUsdc } from "tallystick-protocol/amount";
import { parseRational, type Rational, roundHalfUp, toNumber } from "./rational.ts";
import type { Row } from "./tables.ts";

/** The prices of an agent in one capability, from a row of `capability`. */
export type CapabilityPrice = Pick<Row<"capability">, "capability" | "medianPrice">;

/**
 * Capability → median price in USDC, in ascending order of names. Capabilities without a median price are left out.
 */
export function medianPrices(prices: CapabilityPrice[]): { [capability: string]: string } {
  const known = prices.flatMap(({ capability, medianPrice }) =>
    medianPrice === null ? [] : [[capability, usdc(parseRational(medianPrice))] as const],
  );
  return Object.fromEntries(known.sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Atomic units to USDC; a fraction of a unit is rounded half up. */
export function usdc(atomic: Rational): string {
  return formatUsdc(roundHalfUp(atomic, 0));
}

/** One fraction divided by another, both in the text form of a row. Null when there is nothing to divide by. */
export function ratio(part: string, whole: string): number | null {
  return quotient(parseRational(part), parseRational(whole));
}

/** One whole number divided by another. Null when there is nothing to divide by. */
export function share(part: bigint, whole: bigint): number | null {
  return quotient({ n: part, d: 1n }, { n: whole, d: 1n });
}

function quotient(part: Rational, whole: Rational): number | null {
  return whole.n === 0n ? null : toNumber({ n: part.n * whole.d, d: part.d * whole.n });
}
