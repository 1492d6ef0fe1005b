import { agentRow, changeAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { clusterOf } from "../clusters.ts";
import { elevatedUntil, raiseElevation } from "./elevations.ts";

/**
 * Called when a hire of a seller was rolled back. For a time audits then draw more hires of the seller, and those hires
 * of its clusters that have this verification version. A seller chooses its version, so a new version does not end this.
 */
export function elevate(context: ApplyContext, seller: string, version: string): void {
  const until = context.at.time + context.params.audit.elevatedSeconds;
  if (agentRow(context, seller).elevatedUntil < until) changeAgent(context, seller, { elevatedUntil: until });
  raiseElevation(context, seller, version, until);
  for (const cluster of clustersOf(context, seller)) raiseElevation(context, cluster, version, until);
}

/** Whether a seller's hires with this verification version are drawn more often now. */
export function isElevated(context: ApplyContext, seller: string, version: string): boolean {
  const { time } = context.at;
  if (agentRow(context, seller).elevatedUntil > time) return true;
  return clustersOf(context, seller).some((it) => elevatedUntil(context, it, version) > time);
}

function clustersOf(context: ApplyContext, seller: string): string[] {
  const both = [clusterOf(context, seller, "ownership"), clusterOf(context, seller, "fingerprint")];
  return both.flatMap((it) => (it === null ? [] : [it.id]));
}
