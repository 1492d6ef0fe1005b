/** An amount of a token with six decimals, as text: at most 31 digits before the point and at most six after it. */

const PRICE = /^(0|[1-9]\d{0,30})(?:\.(\d{1,6}))?$/;

/** `"0.50"` → `500000n`; null when the text is not an amount. */
export function atomicOf(text: string): bigint | null {
  const found = PRICE.exec(text.trim());
  if (found === null) return null;
  const [, whole = "0", decimals = ""] = found;
  return BigInt(whole) * 1_000_000n + BigInt(decimals.padEnd(6, "0"));
}

/** `500000n` → `"0.50"`: every digit, at least two after the point. */
export function decimalOf(atomic: bigint): string {
  const digits = atomic.toString().padStart(7, "0");
  const decimals = digits.slice(-6).replace(/0{1,4}$/, "");
  return `${digits.slice(0, -6)}.${decimals}`;
}
