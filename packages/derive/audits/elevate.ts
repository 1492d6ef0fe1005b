import { agentRow } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { clusterOf } from "../clusters.ts";
import { elevatedUntil, raiseElevation } from "./elevations.ts";

/** A hire was rolled back: for a time more hires of its seller and of its cluster are drawn under this version. */
export async function elevate(context: ApplyContext, seller: string, version: string): Promise<void> {
  const until = context.at.time + context.params.audit.elevatedSeconds;
  await raiseElevation(context, seller, version, until);
  for (const cluster of await clustersOf(context, seller))
    await raiseElevation(context, cluster, version, until);
}

/** Whether hires of a seller under a version are drawn more often now. */
export async function isElevated(context: ApplyContext, seller: string, version: string): Promise<boolean> {
  const { everElevated } = await agentRow(context, seller);
  for (const who of [...(everElevated ? [seller] : []), ...(await clustersOf(context, seller))]) {
    if ((await elevatedUntil(context, who, version)) > context.at.time) return true;
  }
  return false;
}

async function clustersOf(context: ApplyContext, seller: string): Promise<string[]> {
  const both = [
    await clusterOf(context, seller, "ownership"),
    await clusterOf(context, seller, "fingerprint"),
  ];
  return both.flatMap((it) => (it === null ? [] : [it.id]));
}
