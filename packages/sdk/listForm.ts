import * as z from "zod";

/**
 * The form of a list in another machine's answer. The length is checked before the items. So a list that is far too
 * long costs no time, and no memory for the faults of its items.
 *
 * @param most how many items it may have: as many as were asked for
 */
export function listForm<Item extends z.ZodType>(item: Item, most: number) {
  return z.array(z.unknown()).max(most).pipe(z.array(item));
}
