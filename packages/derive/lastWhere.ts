import { itemOf, listLength } from "./lists.ts";
import type { Store } from "./store.ts";

/**
 * The last item of a list for which `holds` is true, or null. It is a binary search, because the list of a block or a
 * wallet can be long. So all items for which `holds` is true must come before all others.
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
