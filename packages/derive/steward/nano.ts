/** The value 1 in the units of the trust score. Its figures are whole numbers of 10⁻⁹. */
export const NANO = 1_000_000_000;
const SCALE = BigInt(NANO);

/** The fraction n/d in units of 10⁻⁹, rounded half up; neither is negative, and d is not 0. */
export function nanoOf(n: bigint, d: bigint): number {
  return Number((2n * n * SCALE + d) / (2n * d));
}

/**
 * A figure in units of 10⁻⁹ as a JSON number. One division of two exact numbers gives the same result as reading the
 * decimal digits.
 */
export function nanoToNumber(nano: number): number {
  return nano / NANO;
}
