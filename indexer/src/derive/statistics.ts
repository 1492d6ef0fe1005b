import { selectNumber } from "./orderedSet.ts";
import { type Rational, rational } from "./rational.ts";
import type { Store } from "./store.ts";

/** The median of a set of `size` numbers: the middle one, or the mean of the middle two. */
export async function medianOf(store: Store, set: string, size: number): Promise<Rational> {
  const upper = await selectNumber(store, set, Math.floor(size / 2));
  if (size % 2 === 1) return rational(upper);
  return rational((await selectNumber(store, set, size / 2 - 1)) + upper, 2n);
}

/** The nearest-rank percentile: the smallest number that at least `percent` of the set do not exceed. */
export async function percentileOf(
  store: Store,
  set: string,
  size: number,
  percent: number,
): Promise<bigint> {
  return selectNumber(store, set, Math.ceil((size * percent) / 100) - 1);
}
