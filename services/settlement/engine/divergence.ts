import type { PyJson } from "tallystick-protocol/json/pythonJson";

/** How many leaves were compared, and the sum of their differences (each from 0 to 1). */
type Tally = { leaves: number; difference: number };

/**
 * The distance of two JSON values, from 0 (equal) to 1 (nothing in common): the share of their leaves that differ.
 *
 * A leaf is a scalar or an empty object or array, at its path (object keys and array positions). Every path at which
 * either value has a leaf counts one. The difference there is 1 when the other value has no leaf at that path, or a
 * different leaf. Between two numbers it is |a - b| / max(|a|, |b|), at most 1. An int and a float of the same value are
 * equal; true is not 1; text that looks like a number is text. If the two have no path in common, the result is 1. Two
 * empty objects are equal.
 *
 * @example divergence({ a: 100n, b: "x" }, { a: 90n, b: "x" }) // 0.05
 */
export function divergence(a: PyJson, b: PyJson): number {
  const tally: Tally = { leaves: 0, difference: 0 };
  compare(a, b, tally);
  return tally.difference / tally.leaves;
}

function compare(a: PyJson, b: PyJson | undefined, tally: Tally): void {
  const left = children(a);
  const right = children(b);
  if (left === undefined || right === undefined) {
    // At least one of the two values is a leaf here, or `b` is absent. A leaf counts as one path. If the other value
    // has paths below it, each of them counts too.
    if (left === undefined || b !== undefined) {
      tally.leaves += 1;
      tally.difference += leafDifference(a, b);
    }
    for (const child of (left ?? right)?.values() ?? []) compare(child, undefined, tally);
    return;
  }
  for (const [key, child] of left) compare(child, right.get(key), tally);
  for (const [key, child] of right) if (!left.has(key)) compare(child, undefined, tally);
}

/**
 * The values below a value; undefined for a leaf or nothing. Places in an array are numbers and keys of an object are
 * texts, so an array and an object have no common paths.
 */
function children(value: PyJson | undefined): Map<string | number, PyJson> | undefined {
  if (value === null || typeof value !== "object") return undefined;
  const isArray = Array.isArray(value);
  const values = new Map<string | number, PyJson>(isArray ? value.entries() : Object.entries(value));
  return values.size === 0 ? undefined : values;
}

function isNumber(value: PyJson | undefined): value is number | bigint {
  return typeof value === "number" || typeof value === "bigint";
}

function leafDifference(a: PyJson | undefined, b: PyJson | undefined): number {
  if (isNumber(a) && isNumber(b)) return relativeDifference(a, b);
  const sameEmpty =
    typeof a === "object" &&
    typeof b === "object" &&
    a !== null &&
    b !== null &&
    Array.isArray(a) === Array.isArray(b);
  if (sameEmpty) return children(a) === undefined && children(b) === undefined ? 0 : 1;
  return a === b ? 0 : 1;
}

/** |a - b| / max(|a|, |b|), at most 1. For two ints it is exact, whatever their size. */
function relativeDifference(a: number | bigint, b: number | bigint): number {
  // The loose comparison is exact between an int and a float.
  // biome-ignore lint/suspicious/noDoubleEquals: 1 and 1.0 are the same number
  if (a == b) return 0;
  if (typeof a === "bigint" && typeof b === "bigint") {
    const size = bigMax(bigAbs(a), bigAbs(b));
    const billionths = (bigAbs(a - b) * 1_000_000_000n) / size;
    // The difference of two different ints is above 0 and at most 1.
    return Math.min(1, Math.max(Number(billionths), 1) / 1_000_000_000);
  }
  const [x, y] = [Number(a), Number(b)];
  // The int is too large for a double, or the difference of two doubles is too large for a double. Then the
  // difference is about as large as the larger number, or larger.
  if (!Number.isFinite(x - y)) return 1;
  return Math.min(1, Math.abs(x - y) / Math.max(Math.abs(x), Math.abs(y)));
}

function bigAbs(value: bigint): bigint {
  return value < 0n ? -value : value;
}

function bigMax(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}
