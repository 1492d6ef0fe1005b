import { agentRow } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { clusterOf } from "../clusters.ts";
import { elevatedUntil, raiseElevation } from "./elevations.ts";

/**
 * Called when a hire of a seller was rolled back. For a time, audits draw more hires with this verification version:
 * those of the seller, and those of its clusters.
 */
export function elevate(context: ApplyContext, seller: string, version: string): void {
  const until = context.at.time + context.params.audit.elevatedSeconds;
  raiseElevation(context, seller, version, until);
  for (const cluster of clustersOf(context, seller)) raiseElevation(context, cluster, version, until);
}

/** Whether hires of a seller with this verification version are drawn more often now. */
export function isElevated(context: ApplyContext, seller: string, version: string): boolean {
  const { everElevated } = agentRow(context, seller);
  for (const who of [...(everElevated ? [seller] : []), ...clustersOf(context, seller)]) {
    if (elevatedUntil(context, who, version) > context.at.time) return true;
  }
  return false;
}

function clustersOf(context: ApplyContext, seller: string): string[] {
  const both = [clusterOf(context, seller, "ownership"), clusterOf(context, seller, "fingerprint")];
  return both.flatMap((it) => (it === null ? [] : [it.id]));
}
