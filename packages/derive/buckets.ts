/**
 * The coarse values that are published for an agent whose listings ask for `private_metrics` (SHP §9.2). A value is
 * the lower end of its bucket. For a latency it is the upper end.
 */
export const buckets = {
  tenths: { text: "steps of 0.1", of: (exact: number | null) => step(exact, 10) },
  halves: { text: "steps of 0.5", of: (exact: number | null) => step(exact, 2) },
  powerOfTen: {
    text: "0, 1, 10, 100, …",
    of: (exact: number) => Number(powerOfTen(String(Math.floor(exact)))),
  },
  powerOfTenUsdc: {
    text: "0, 1, 10, 100, … USDC",
    of: (exact: string) => `${powerOfTen(exact.split(".")[0] ?? "0")}.00`,
  },
  powerOfTwo: {
    text: "powers of two, the upper end",
    of: (exact: number | null) => (exact === null ? null : 2 ** Math.ceil(Math.log2(Math.max(1, exact)))),
  },
  leftOut: { text: "left out", of: () => ({}) },
};

export type BucketName = keyof typeof buckets;

/** The published value for an exact value. */
export function bucketOf<Value>(bucket: BucketName, exact: Value): Value {
  // Each field has a value of the type that its bucket takes. TypeScript cannot see this.
  const rule = buckets[bucket].of as unknown as (exact: Value) => Value;
  return rule(exact);
}

/** The largest multiple of 1/steps that is not above the value. */
function step(value: number | null, steps: number): number | null {
  return value === null ? null : Math.floor(value * steps + 1e-9) / steps;
}

/** The largest power of ten that is not above a whole number, as digits; 0 for 0. */
function powerOfTen(digits: string): string {
  return digits === "0" ? "0" : `1${"0".repeat(digits.length - 1)}`;
}
