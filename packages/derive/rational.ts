/** An exact fraction, always in lowest terms with a positive denominator. */
export type Rational = { readonly n: bigint; readonly d: bigint };

export const ZERO: Rational = { n: 0n, d: 1n };
export const ONE: Rational = { n: 1n, d: 1n };

export function rational(n: bigint, d = 1n): Rational {
  if (d === 1n) return { n, d };
  if (d === 0n) throw new RangeError("A fraction needs a denominator other than 0.");
  if (d < 0n) return rational(-n, -d);
  const divisor = gcd(magnitude(n), d);
  return { n: n / divisor, d: d / divisor };
}

function gcd(a: bigint, b: bigint): bigint {
  while (b !== 0n) [a, b] = [b, a % b];
  return a === 0n ? 1n : a;
}

/**
 * Sums of weights can have denominators of thousands of digits: a weight is 1/n, and a growing cluster has many sizes
 * n. So both denominators are divided by their common divisor, which is at most the smaller one. Then the sum is
 * reduced only by what it shares with that divisor (Knuth, TAOCP 4.5.1). So the common divisor of the large numerator
 * and the large denominator of the sum is never computed.
 */
export function add(a: Rational, b: Rational): Rational {
  if (a.d === b.d && a.d === 1n) return { n: a.n + b.n, d: 1n };
  const shared = gcd(a.d, b.d);
  if (shared === 1n) return { n: a.n * b.d + b.n * a.d, d: a.d * b.d };
  const n = a.n * (b.d / shared) + b.n * (a.d / shared);
  const left = gcd(magnitude(n), shared);
  return { n: n / left, d: (a.d / shared) * (b.d / left) };
}

export function subtract(a: Rational, b: Rational): Rational {
  return add(a, { n: -b.n, d: b.d });
}

export function multiply(a: Rational, b: Rational): Rational {
  if (a.d === 1n && b.d === 1n) return { n: a.n * b.n, d: 1n };
  const [left, right] = [gcd(magnitude(a.n), b.d), gcd(magnitude(b.n), a.d)];
  return { n: (a.n / left) * (b.n / right), d: (a.d / right) * (b.d / left) };
}

function magnitude(n: bigint): bigint {
  return n < 0n ? -n : n;
}

/** Negative, zero or positive, as a − b. */
export function compare(a: Rational, b: Rational): number {
  const difference = a.n * b.d - b.n * a.d;
  return difference < 0n ? -1 : difference > 0n ? 1 : 0;
}

/** Most stored numbers are small and whole. These are made once and kept here, so they need no parsing. */
const SMALL: ReadonlyMap<string, Rational> = new Map(
  Array.from({ length: 1_000 }, (_, n) => [String(n), { n: BigInt(n), d: 1n }]),
);

/** `n`, or `n/d`: how fractions are stored in a row. */
export function formatRational({ n, d }: Rational): string {
  return d === 1n ? n.toString() : `${n}/${d}`;
}

export function parseRational(text: string): Rational {
  const small = SMALL.get(text);
  if (small !== undefined) return small;
  const slash = text.indexOf("/");
  return slash < 0
    ? { n: BigInt(text), d: 1n }
    : { n: BigInt(text.slice(0, slash)), d: BigInt(text.slice(slash + 1)) };
}

/** The fraction times 10^decimals, rounded half up. It must not be negative, and need not be in lowest terms. */
export function roundHalfUp({ n, d }: Rational, decimals: number): bigint {
  return (2n * n * 10n ** BigInt(decimals) + d) / (2n * d);
}

/**
 * The fraction as a JSON number, rounded half up at nine decimals. It is exact until this last step. It is only for
 * output, and never for a comparison with a threshold.
 */
export function toNumber(value: Rational): number {
  if (value.d === 1n) return Number(value.n);
  const scaled = roundHalfUp(value, 9);
  // Dividing two exact numbers rounds once. The result is the same as reading the decimal digits.
  if (scaled <= Number.MAX_SAFE_INTEGER) return Number(scaled) / 1e9;
  return Number(`${scaled / 1_000_000_000n}.${(scaled % 1_000_000_000n).toString().padStart(9, "0")}`);
}
