import { selectNumbers } from "./orderedSet.ts";
import { type Rational, rational } from "./rational.ts";
import type { Store } from "./store.ts";

/** The median of a set of `size` numbers: the middle one, or the mean of the middle two. */
export function medianOf(store: Store, set: string, size: number): Rational {
  const upper = Math.floor(size / 2);
  const middle = selectNumbers(store, set, size % 2 === 1 ? [upper] : [upper - 1, upper]);
  return rational(
    middle.reduce((sum, it) => sum + it, 0n),
    BigInt(middle.length),
  );
}

/**
 * Nearest-rank percentiles. The p-th percentile is the smallest number of the set that at least p percent of the
 * numbers do not exceed.
 */
export function percentilesOf(store: Store, set: string, size: number, percents: number[]): bigint[] {
  const ranks = percents.map((percent) => Math.ceil((size * percent) / 100) - 1);
  return selectNumbers(store, set, ranks);
}
