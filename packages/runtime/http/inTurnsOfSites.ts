import { registeredNameOf } from "./registeredNameOf.ts";
import { siteOf } from "./siteOf.ts";

/**
 * The items in another order: the first item of each registered name, then the second of each, and so on. The sites below
 * one registered name take turns in the same way. So an owner with many items hardly delays those of other owners, and
 * somebody with many free sites at a hosting service delays only others there.
 *
 * @param hostOf the host of an item
 */
export function inTurnsOfSites<Item>(items: readonly Item[], hostOf: (item: Item) => string): Item[] {
  const ofSites = inTurns(items, (item) => siteOf(hostOf(item)));
  return inTurns(ofSites, (item) => registeredNameOf(hostOf(item)));
}

/** The first item of each group, then the second item of each group, and so on. Within a group the order stays. */
function inTurns<Item>(items: readonly Item[], groupOf: (item: Item) => string): Item[] {
  const turns: Item[][] = [];
  const counts = new Map<string, number>();
  for (const item of items) {
    const group = groupOf(item);
    const turn = counts.get(group) ?? 0;
    counts.set(group, turn + 1);
    const others = turns[turn];
    if (others === undefined) turns.push([item]);
    else others.push(item);
  }
  return turns.flat();
}
