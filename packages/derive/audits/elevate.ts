import { agentRow } from "../agentRow.ts";
import { clusterOf } from "../clusters.ts";
import type { Step } from "../step.ts";
import { elevatedUntil, raiseElevation } from "./elevations.ts";

/** A hire was rolled back: more of what its seller, and who is in a cluster with it, sells under this version is drawn for a time. */
export async function elevate(step: Step, seller: string, version: string): Promise<void> {
  const until = step.at.time + step.params.audit.elevatedSeconds;
  await raiseElevation(step, seller, version, until);
  for (const cluster of await clustersOf(step, seller)) await raiseElevation(step, cluster, version, until);
}

/** Whether the hires of a seller under a version are drawn more often now. */
export async function isElevated(step: Step, seller: string, version: string): Promise<boolean> {
  const { everElevated } = await agentRow(step, seller);
  for (const who of [...(everElevated ? [seller] : []), ...(await clustersOf(step, seller))]) {
    if ((await elevatedUntil(step, who, version)) > step.at.time) return true;
  }
  return false;
}

async function clustersOf(step: Step, seller: string): Promise<string[]> {
  const both = [await clusterOf(step, seller, "ownership"), await clusterOf(step, seller, "fingerprint")];
  return both.flatMap((it) => (it === null ? [] : [it.id]));
}
