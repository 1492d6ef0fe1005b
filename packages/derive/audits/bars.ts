import { clusterOf, sharedClusterSize } from "../clusters.ts";
import { partyOf } from "../parties.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { findAuditor } from "./auditors.ts";

/** Why somebody on a roster, and so in Tier 2, may not be the auditor of a hire, or null. */
export async function barOf(
  step: Step,
  { seller, buyer, round, capability }: Row<"audit">,
  auditor: string,
  earlier: Row<"auditAssignment">[],
): Promise<string | null> {
  if (auditor === buyer || auditor === seller) return "party";
  const sold = await step.store.get("capability", `${auditor}/${capability}`);
  if ((sold?.windowSuccesses ?? 0) === 0) return "capability";
  for (const side of [buyer, seller]) {
    if (await areTogether(step, auditor, side)) return "cluster";
  }
  const last = await step.store.get("auditPair", pairId({ buyer, seller }, auditor));
  if (last !== null && last.time > step.at.time - step.params.audit.pairSeconds) return "pair";
  for (const before of earlier) {
    if (before.auditor === auditor) return "earlier";
    if (round > 1 && (await isAkin(step, before, auditor))) return "akin";
  }
  return null;
}

/** Whether somebody buys or sells in a hire, or is one with who does. */
export async function isSideOf(
  step: Step,
  { seller, buyer }: Pick<Row<"audit">, "seller" | "buyer">,
  who: string,
): Promise<boolean> {
  for (const side of [buyer, seller]) if (side === who || (await areTogether(step, who, side))) return true;
  return false;
}

/** Whether two agents are in one cluster, or one buyer. Whose money made them belongs here too, once that is known. */
async function areTogether(step: Step, a: string, b: string): Promise<boolean> {
  return (await sharedClusterSize(step, a, b)) > 1 || (await partyOf(step, a)) === (await partyOf(step, b));
}

/** Whether a second auditor is the first one's own: by cluster, by claimed handle, by the host of its endpoint. */
async function isAkin(step: Step, before: Row<"auditAssignment">, auditor: string): Promise<boolean> {
  if (await areTogether(step, before.auditor, auditor)) return true;
  const handle = await handleOf(step, auditor);
  if (handle !== null && handle === (await handleOf(step, before.auditor))) return true;
  const row = await findAuditor(step, before.operator, auditor);
  return row !== null && row.host === before.host;
}

/** Whose human an agent says it is, in lower case; null when nobody's. */
async function handleOf(step: Step, agent: string): Promise<string | null> {
  const claim = await step.store.get("claim", agent);
  return claim === null || claim.status === "unclaimed" ? null : claim.xHandle.toLowerCase();
}

/** The clusters of some agents, of both kinds, as they are published with an assignment. */
export async function clustersOf(step: Step, agents: string[]): Promise<{ [agent: string]: string[] }> {
  const clusters: { [agent: string]: string[] } = {};
  for (const agent of agents) {
    const both = [await clusterOf(step, agent, "ownership"), await clusterOf(step, agent, "fingerprint")];
    clusters[agent] = both.flatMap((it) => (it === null ? [] : [it.id]));
  }
  return clusters;
}

/** Notes when an auditor was last asked about a buyer and a seller. */
export async function notePair(step: Step, audit: Row<"audit">, auditor: string): Promise<void> {
  const id = pairId(audit, auditor);
  const { time } = step.at;
  if ((await step.store.get("auditPair", id)) === null) await step.store.insert("auditPair", { id, time });
  else await step.store.update("auditPair", id, { time });
}

function pairId({ buyer, seller }: { buyer: string; seller: string }, auditor: string): string {
  return `${auditor}/${buyer}/${seller}`;
}
