import { changeAgent, findAgent } from "../agentRow.ts";
import { append, itemsOf } from "../lists.ts";
import type { Step } from "../step.ts";

/**
 * Until when hires are drawn more often, for each seller of a hire that was rolled back, each cluster that one is in, and the
 * verification version that it sold under (SHP §8.3.1). A cluster's time is the latest of its members': so it is carried along when
 * clusters merge, and worked out anew when they come apart.
 */
export async function raiseElevation(step: Step, who: string, version: string, until: number): Promise<void> {
  const id = idOf(who, version);
  const row = await step.store.get("elevation", id);
  if (row === null) {
    await step.store.insert("elevation", { id, until });
    await append(step.store, versionsOf(who), version);
    // A cluster is no agent.
    if ((await findAgent(step, who)) !== null) await changeAgent(step, who, { everElevated: true });
  } else if (row.until < until) await step.store.update("elevation", id, { until });
}

/** Until when one of them is drawn more often, 0 when it never was. */
export async function elevatedUntil(step: Step, who: string, version: string): Promise<number> {
  return (await step.store.get("elevation", idOf(who, version)))?.until ?? 0;
}

/** An agent, or another cluster, is part of a cluster from here on. */
export async function elevateWith(step: Step, cluster: string, joined: string): Promise<void> {
  for await (const version of itemsOf(step.store, versionsOf(joined))) {
    const row = await step.store.get("elevation", idOf(joined, version));
    if (row !== null && row.until > step.at.time) await raiseElevation(step, cluster, version, row.until);
  }
}

/** A cluster comes apart: whoever is in it after says again until when. */
export async function clearElevations(step: Step, cluster: string): Promise<void> {
  for await (const version of itemsOf(step.store, versionsOf(cluster)))
    await step.store.update("elevation", idOf(cluster, version), { until: 0 });
}

function idOf(who: string, version: string): string {
  return `${who}/${version}`;
}

function versionsOf(who: string): string {
  return `elevated/${who}`;
}
