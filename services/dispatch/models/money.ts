import { parseUsdc } from "tallystick-protocol/amount";

/**
 * The unit of costs: picodollars, 10^-12 US dollars. A price of one millionth of a dollar for a million tokens is one
 * picodollar for a token, so every sum is exact.
 */
export type Picodollars = bigint;

const DECIMALS = 12;

/**
 * Converts a price in dollars for a million tokens to the price of one token: `"0.25"` → `250000n`.
 *
 * @throws InvalidInputError naming `field`
 */
export function parsePrice(text: string, field: string): Picodollars {
  return parseUsdc(text, field);
}

/** Converts the price of one token to a price in dollars for a million tokens. */
export function formatPrice(price: Picodollars): string {
  return formatDollars(price * 1_000_000n);
}

/** An amount of dollars with at most six decimals: `"0.50"` → `500000000000n`. @throws InvalidInputError naming `field` */
export function parseDollars(text: string, field: string): Picodollars {
  return parseUsdc(text, field) * 1_000_000n;
}

/** Formats an amount as dollars, as short as possible with at least two decimals: `1n` → `"0.000000000001"`. */
export function formatDollars(amount: Picodollars): string {
  const sign = amount < 0n ? "-" : "";
  const digits = (amount < 0n ? -amount : amount).toString().padStart(DECIMALS + 1, "0");
  const fraction = digits.slice(-DECIMALS).replace(/0{1,10}$/, "");
  return `${sign}${digits.slice(0, -DECIMALS)}.${fraction}`;
}

const DOLLARS = /^(\d{1,30})\.(\d{2,12})$/;

/** Reads what {@link formatDollars} wrote; undefined for anything else. */
export function readDollars(text: string): Picodollars | undefined {
  const [, whole, fraction] = DOLLARS.exec(text) ?? [];
  if (whole === undefined || fraction === undefined) return undefined;
  return BigInt(whole) * 10n ** BigInt(DECIMALS) + BigInt(fraction.padEnd(DECIMALS, "0"));
}
