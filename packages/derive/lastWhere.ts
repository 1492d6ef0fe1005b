import { itemOf, listLength } from "./lists.ts";
import type { Store } from "./store.ts";

/**
 * The last item of a list for which `holds` is true, or null. `holds` is true for the first items of the list
 * and false for all others. It is a binary search, because lists of one block or wallet can be long.
 */
export function lastWhere(
  store: Pick<Store, "get">,
  list: string,
  holds: (item: string) => boolean,
): string | null {
  let [low, high] = [0, listLength(store, list)];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    if (holds(itemOf(store, list, middle) ?? "")) low = middle + 1;
    else high = middle;
  }
  return low === 0 ? null : itemOf(store, list, low - 1);
}
