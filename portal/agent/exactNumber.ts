/** An exact number as the node gives it: `n` or `n/d`. */
export type ExactNumber = { numerator: bigint; denominator: bigint };

/** Reads an exact number; null if the text is not one. */
export function exactNumber(text: string | null): ExactNumber | null {
  const [, numerator, denominator = "1"] = /^(-?\d{1,400})(?:\/(\d{1,400}))?$/.exec(text ?? "") ?? [];
  if (numerator === undefined || /^0+$/.test(denominator)) return null;
  return { numerator: BigInt(numerator), denominator: BigInt(denominator) };
}

/** Whether a ≥ b, exactly. */
export function isAtLeast(a: ExactNumber, b: ExactNumber): boolean {
  return a.numerator * b.denominator >= b.numerator * a.denominator;
}

/** a / b; null when b is zero. */
export function quotient(a: ExactNumber, b: ExactNumber): ExactNumber | null {
  if (b.numerator === 0n) return null;
  return { numerator: a.numerator * b.denominator, denominator: a.denominator * b.numerator };
}

/** An approximate number to show to people, cut off after four decimal places. */
export function approximately({ numerator, denominator }: ExactNumber): number {
  return Number((numerator * 10_000n) / denominator) / 10_000;
}
