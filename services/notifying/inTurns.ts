/**
 * The items in another order: the first item of each group, then the second of each group, and so on. Within a group
 * the order stays. So a group with many items hardly delays the items of a small group.
 */
export function inTurns<Item>(items: readonly Item[], groupOf: (item: Item) => string): Item[] {
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
