import { agentRow, updateAgent } from "./agentRow.ts";
import { clusterOf } from "./clusters.ts";
import { append, itemsOf, listLength } from "./lists.ts";
import type { Step } from "./step.ts";

/**
 * A party is who buys: an address, or a whole cluster, which counts as one buyer. Each party has rows
 * `<party>/<seller>` with its hires in the window, and a list of the sellers it ever bought from, so that parties can be
 * merged; the smaller is always poured into the larger, which keeps merging cheap however clusters grow.
 */
export async function partyOf(step: Step, buyer: string): Promise<string> {
  return (await clusterOf(step, buyer))?.party ?? buyer;
}

/** Counts a hire in the window. */
export async function addCustom(step: Step, buyer: string, seller: string): Promise<void> {
  await changeCustom(step, await partyOf(step, buyer), seller, 1);
}

/** A hire leaves the window. */
export async function removeCustom(step: Step, buyer: string, seller: string): Promise<void> {
  await changeCustom(step, await partyOf(step, buyer), seller, -1);
}

/** Makes two parties one; returns the name under which both go on. */
export async function mergeParties(step: Step, a: string, b: string): Promise<string> {
  const [small, large] =
    (await listLength(step.store, sellersOf(a))) < (await listLength(step.store, sellersOf(b)))
      ? [a, b]
      : [b, a];
  for await (const seller of itemsOf(step.store, sellersOf(small))) {
    const windowHires = (await step.store.get("custom", `${small}/${seller}`))?.windowHires ?? 0;
    if (windowHires === 0) continue;
    await changeCustom(step, small, seller, -windowHires);
    await changeCustom(step, large, seller, windowHires);
  }
  return large;
}

async function changeCustom(step: Step, party: string, seller: string, by: number): Promise<void> {
  const id = `${party}/${seller}`;
  const row = await step.store.get("custom", id);
  const before = row?.windowHires ?? 0;
  const after = before + by;
  if (row === null) {
    await step.store.insert("custom", { id, windowHires: after });
    await append(step.store, sellersOf(party), seller);
  } else {
    await step.store.update("custom", id, { windowHires: after });
  }
  const change = Number(after > 0) - Number(before > 0);
  if (change === 0) return;
  const { distinctBuyers } = await agentRow(step, seller);
  await updateAgent(step, seller, { distinctBuyers: distinctBuyers + change });
}

function sellersOf(party: string): string {
  return `sellers/${party}`;
}
