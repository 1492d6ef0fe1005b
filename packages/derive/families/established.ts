import type { ApplyContext } from "../applyContext.ts";
import { append, itemsOf } from "../lists.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";

/** How long ago a family's founder must have acted first, in seconds: 30 days. */
export const ESTABLISHED_SECONDS = 2_592_000;

/** The number of other families from which its members must have bought within the window. */
export const ESTABLISHED_SELLERS = 3;

/** Whether a family counts as established, as of the last tick. */
export async function isEstablished({ store }: ApplyContext, family: string): Promise<boolean> {
  return (await store.get("family", family))?.established ?? false;
}

/** The row of a family that buys. It is made with its first hire. */
export async function familyRow(context: ApplyContext, id: string): Promise<Row<"family">> {
  const known = await context.store.get("family", id);
  if (known !== null) return known;
  const foundedTime = (await context.store.get("kin", id))?.actedTime ?? context.at.time;
  const row = { id, foundedTime, sellers: 0, established: false, touched: null };
  await context.store.insert("family", row);
  const due = foundedTime + ESTABLISHED_SECONDS;
  if (due > context.state.time) await schedule(context, due, "family", id);
  return row;
}

/** A purchase by a family enters the window, or leaves it. */
export async function countPurchasesOfFamily(
  context: ApplyContext,
  family: string,
  sellers: string,
  by: 1 | -1,
): Promise<void> {
  const id = `${family}/${sellers}`;
  const row = await context.store.get("familyPurchases", id);
  const before = row?.hires ?? 0;
  if (row === null) await context.store.insert("familyPurchases", { id, hires: by });
  else await context.store.update("familyPurchases", id, { hires: before + by });
  const change = Number(before + by > 0) - Number(before > 0);
  if (change === 0) return;
  const known = await familyRow(context, family);
  await context.store.update("family", family, { sellers: known.sellers + change });
  await looksAgain(context, family);
}

/** Marks a family, so that the next tick decides again whether it is established. */
export async function looksAgain(context: ApplyContext, family: string): Promise<void> {
  const { ticks } = context.state;
  const { touched } = await familyRow(context, family);
  if (touched === ticks) return;
  await context.store.update("family", family, { touched: ticks });
  await append(context.store, changedIn(ticks), family);
}

/**
 * Decides at a tick which of the changed families are established, and reports each one whose state changed.
 */
export async function settleFamilies(
  context: ApplyContext,
  tell: (family: string) => Promise<void>,
): Promise<void> {
  for await (const id of itemsOf(context.store, changedIn(context.state.ticks))) {
    const { foundedTime, sellers, established } = await familyRow(context, id);
    const isOld = context.at.time >= foundedTime + ESTABLISHED_SECONDS;
    const after = isOld && sellers >= ESTABLISHED_SELLERS;
    if (after === established) continue;
    await context.store.update("family", id, { established: after });
    await tell(id);
  }
}

function changedIn(tick: number): string {
  return `families/${tick}`;
}
