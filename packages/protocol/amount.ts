import * as z from "zod";
import { InvalidInputError } from "./errors.ts";

/** USDC has six decimals: 1 USDC is 1,000,000 atomic units. */
export const USDC_DECIMALS = 6;

const PRICE = /^(0|[1-9][0-9]{0,70})(?:\.([0-9]{1,6}))?$/;
const ATOMIC = /^(?:0|[1-9][0-9]{0,77})$/;
const UINT256_MAX = (1n << 256n) - 1n;

/**
 * Converts a price in USDC to atomic units: `"0.50"` → `500000n`.
 *
 * @param text decimal digits, at most six after the point, no sign, no exponent, no leading zeros
 * @throws InvalidInputError naming `field`
 */
export function parseUsdc(text: string, field = "price_usdc"): bigint {
  const match = PRICE.exec(text);
  if (!match) {
    const message = 'must be a decimal amount of USDC with at most 6 decimals, like "0.50"';
    throw new InvalidInputError({ issues: [{ field, message }] });
  }
  const [, whole = "0", fraction = ""] = match;
  return BigInt(whole) * 1_000_000n + BigInt(fraction.padEnd(USDC_DECIMALS, "0"));
}

/**
 * Converts atomic units to USDC, in the shortest form with at least two decimals: `500000n` → `"0.50"`, `1n` →
 * `"0.000001"`.
 */
export function formatUsdc(atomic: bigint): string {
  const sign = atomic < 0n ? "-" : "";
  const digits = (sign === "" ? atomic : -atomic).toString().padStart(USDC_DECIMALS + 1, "0");
  const whole = digits.slice(0, -USDC_DECIMALS);
  const fraction = digits.slice(-USDC_DECIMALS).replace(/0{1,4}$/, "");
  return `${sign}${whole}.${fraction}`;
}

/** A price as listings write it: `"0.50"`, at most six decimals (SHP §6.2). */
export const priceUsdcSchema = z
  .string()
  .regex(PRICE, 'must be a decimal amount of USDC with at most 6 decimals, like "0.50"');

/**
 * Atomic units as receipts write them: a decimal string of an integer in [0, 2^256). If the text is no integer, the
 * check stops there, because the next check needs a number.
 */
export const atomicSchema = z
  .string()
  .regex(ATOMIC, { error: "must be a decimal string of a non-negative integer", abort: true })
  .refine((text) => BigInt(text) <= UINT256_MAX, "must be less than 2^256");
