import { schedule } from "../agenda.ts";
import { append, itemsOf } from "../lists.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";

/** How long a family's founder has to have acted, in seconds: 30 days. */
export const ESTABLISHED_SECONDS = 2_592_000;

/** From how many other families its members have to have bought within the window. */
export const ESTABLISHED_SELLERS = 3;

/** Whether a family counts as established, as of the last tick. */
export async function isEstablished({ store }: Step, family: string): Promise<boolean> {
  return (await store.get("family", family))?.established ?? false;
}

/** A family that buys, with a row from its first hire on. */
export async function familyRow(step: Step, id: string): Promise<Row<"family">> {
  const known = await step.store.get("family", id);
  if (known !== null) return known;
  const foundedTime = (await step.store.get("kin", id))?.actedTime ?? step.at.time;
  const row = { id, foundedTime, sellers: 0, established: false, touched: null };
  await step.store.insert("family", row);
  const due = foundedTime + ESTABLISHED_SECONDS;
  if (due > step.state.time) await schedule(step, due, "family", id);
  return row;
}

/** A hire of a family's enters the window, or leaves it. */
export async function countCustomOfFamily(
  step: Step,
  family: string,
  sellers: string,
  by: 1 | -1,
): Promise<void> {
  const id = `${family}/${sellers}`;
  const row = await step.store.get("familyCustom", id);
  const before = row?.hires ?? 0;
  if (row === null) await step.store.insert("familyCustom", { id, hires: by });
  else await step.store.update("familyCustom", id, { hires: before + by });
  const change = Number(before + by > 0) - Number(before > 0);
  if (change === 0) return;
  const known = await familyRow(step, family);
  await step.store.update("family", family, { sellers: known.sellers + change });
  await looksAgain(step, family);
}

/** The next tick asks whether a family is established. */
export async function looksAgain(step: Step, family: string): Promise<void> {
  const { ticks } = step.state;
  const { touched } = await familyRow(step, family);
  if (touched === ticks) return;
  await step.store.update("family", family, { touched: ticks });
  await append(step.store, changedIn(ticks), family);
}

/** Decides at a tick which of the families that changed are established, and tells of those that are now or are no more. */
export async function settleFamilies(step: Step, tell: (family: string) => Promise<void>): Promise<void> {
  for await (const id of itemsOf(step.store, changedIn(step.state.ticks))) {
    const { foundedTime, sellers, established } = await familyRow(step, id);
    const isOld = step.at.time >= foundedTime + ESTABLISHED_SECONDS;
    const after = isOld && sellers >= ESTABLISHED_SELLERS;
    if (after === established) continue;
    await step.store.update("family", id, { established: after });
    await tell(id);
  }
}

function changedIn(tick: number): string {
  return `families/${tick}`;
}
