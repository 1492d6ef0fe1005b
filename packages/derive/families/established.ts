import type { ApplyContext } from "../applyContext.ts";
import { append, itemsOf } from "../lists.ts";
import { forEachRow } from "../loadedRows.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";

/** How long ago a family's founder must have acted first, in seconds: 30 days. */
export const ESTABLISHED_SECONDS = 2_592_000;

/** The number of other families from which the family's members must have bought within the window. */
export const ESTABLISHED_SELLERS = 3;

/** Whether a family counts as established, as of the last tick. */
export function isEstablished({ store }: ApplyContext, family: string): boolean {
  return store.get("family", family)?.established ?? false;
}

/** The row of a family that buys. It is made with its first hire. */
export function familyRow(context: ApplyContext, id: string): Row<"family"> {
  const known = context.store.get("family", id);
  if (known !== null) return known;
  const foundedTime = context.store.get("familyMember", id)?.actedTime ?? context.at.time;
  const row = { id, foundedTime, sellers: 0, established: false, touched: null };
  context.store.insert("family", row);
  const due = foundedTime + ESTABLISHED_SECONDS;
  if (due > context.state.time) schedule(context, due, "family", id);
  return row;
}

/** Counts a purchase by a family from a family of sellers. It enters the window (`by` 1), or leaves it (−1). */
export function countPurchasesOfFamily(
  context: ApplyContext,
  family: string,
  sellers: string,
  by: 1 | -1,
): void {
  const id = `${family}/${sellers}`;
  const row = context.store.get("familyPurchases", id);
  const before = row?.hires ?? 0;
  context.store.put("familyPurchases", { id, hires: before + by });
  const change = Number(before + by > 0) - Number(before > 0);
  if (change === 0) return;
  const known = familyRow(context, family);
  noteChanged(context, { ...known, sellers: known.sellers + change });
}

/** Marks a family, so that the next tick decides again whether it is established. */
export function looksAgain(context: ApplyContext, family: string): void {
  noteChanged(context, familyRow(context, family));
}

/** Writes the row of a family that the next tick has to look at. */
function noteChanged(context: ApplyContext, row: Row<"family">): void {
  const { ticks } = context.state;
  context.store.put("family", { ...row, touched: ticks });
  if (row.touched !== ticks) append(context.store, changedIn(ticks), row.id);
}

/**
 * Decides at a tick which of the changed families are established, and reports each one whose state changed.
 */
export function settleFamilies(context: ApplyContext, tell: (family: string) => void): void {
  forEachRow(itemsOf(context.store, changedIn(context.state.ticks)), (id) => {
    const { foundedTime, sellers, established } = familyRow(context, id);
    const isOld = context.at.time >= foundedTime + ESTABLISHED_SECONDS;
    const after = isOld && sellers >= ESTABLISHED_SELLERS;
    if (after === established) return;
    context.store.update("family", id, { established: after });
    tell(id);
  });
}

function changedIn(tick: number): string {
  return `families/${tick}`;
}
