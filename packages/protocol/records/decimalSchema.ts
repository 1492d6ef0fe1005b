import * as z from "zod";

const DECIMAL = /^(?:0|[1-9][0-9]{0,11})(?:\.[0-9]{1,9})?$/;

/**
 * Signed bodies have no floats. A figure is a decimal string like "0.99" or "5000": at most 12 digits before the point,
 * at most 9 after it, and no leading zeros. If the text is not such a string, no later check runs (`abort`): no check
 * of the figure, and no check of the object that has the figure. These checks compute with the figure.
 */
export const decimalSchema = z.string().regex(DECIMAL, {
  error:
    'must be a decimal string like "0.99", with at most 12 digits before the point and 9 after it, no leading zeros',
  abort: true,
});

/** A figure in units of 10⁻⁹: `"0.99"` → `990000000n`. Give only text that {@link decimalSchema} has accepted. */
export function parseDecimal(text: string): bigint {
  const [whole = "0", fraction = ""] = text.split(".");
  return BigInt(whole) * 1_000_000_000n + BigInt(fraction.padEnd(9, "0"));
}

/** Writes a figure in units of 10⁻⁹ in its shortest decimal form: `990000000n` → `"0.99"`. */
export function formatDecimal(nano: bigint): string {
  const digits = nano.toString().padStart(10, "0");
  const fraction = digits.slice(-9).replace(/0+$/, "");
  return fraction === "" ? digits.slice(0, -9) : `${digits.slice(0, -9)}.${fraction}`;
}

/** A share from 0 to 1. */
export const decimalShareSchema = decimalSchema.refine((text) => parseDecimal(text) <= 1_000_000_000n, {
  error: "must not be above 1",
  abort: true,
});

/** A share above 0, up to 1. */
export const positiveShareSchema = decimalShareSchema.refine(
  (text) => parseDecimal(text) > 0n,
  "must be above 0",
);
