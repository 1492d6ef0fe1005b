import type { ApplyContext } from "../applyContext.ts";
import { buyerGroupOf } from "../buyerGroups.ts";
import { clusterOf, sharedClusterSize } from "../clusters.ts";
import { areSameFamily, isBehindBuyer } from "../families/kinship.ts";
import type { Row } from "../tables.ts";
import { findAuditor } from "./auditors.ts";

/** The reason why an auditor on a roster may not judge a hire. Null if it may. Auditors on rosters are in Tier 2. */
export function barOf(
  context: ApplyContext,
  { seller, buyer, round, capability }: Row<"audit">,
  auditor: string,
  earlier: Row<"auditAssignment">[],
): string | null {
  if (auditor === buyer || auditor === seller) return "party";
  const sold = context.store.get("capability", `${auditor}/${capability}`);
  if ((sold?.windowSuccesses ?? 0) === 0) return "capability";
  for (const side of [buyer, seller]) {
    if (areTogether(context, auditor, side)) return "cluster";
  }
  for (const side of [buyer, seller]) {
    if (areSameFamily(context, auditor, side)) return "family";
  }
  if (isBehindBuyer(context, buyer, auditor)) return "family";
  const last = context.store.get("auditPair", pairId({ buyer, seller }, auditor));
  if (last !== null && last.time > context.at.time - context.params.audit.pairSeconds) return "pair";
  for (const before of earlier) {
    if (before.auditor === auditor) return "earlier";
    if (round > 1 && haveRelatedOwner(context, before, auditor)) return "akin";
  }
  return null;
}

/** Whether an auditor is a side of a hire, or belongs to a side. */
export function isSideOf(
  context: ApplyContext,
  { seller, buyer }: Pick<Row<"audit">, "seller" | "buyer">,
  who: string,
): boolean {
  for (const side of [buyer, seller]) if (side === who || haveOneOwner(context, who, side)) return true;
  return isBehindBuyer(context, buyer, who);
}

/** Whether two agents may belong to one owner: by cluster, or by the money that they began with. */
function haveOneOwner(context: ApplyContext, a: string, b: string): boolean {
  return areTogether(context, a, b) || areSameFamily(context, a, b);
}

/** Whether two agents are in one cluster, or count as one buyer. */
function areTogether(context: ApplyContext, a: string, b: string): boolean {
  return sharedClusterSize(context, a, b) > 1 || buyerGroupOf(context, a) === buyerGroupOf(context, b);
}

/**
 * Whether an auditor may have the same owner as the auditor of an earlier assignment: by cluster, by family, by claimed
 * handle, or by the host of its endpoint.
 */
function haveRelatedOwner(context: ApplyContext, before: Row<"auditAssignment">, auditor: string): boolean {
  if (haveOneOwner(context, before.auditor, auditor)) return true;
  const handle = handleOf(context, auditor);
  if (handle !== null && handle === handleOf(context, before.auditor)) return true;
  const row = findAuditor(context, before.operator, auditor);
  return row !== null && row.host === before.host;
}

/** The X handle that claims an agent, in lower case; null without one. */
function handleOf(context: ApplyContext, agent: string): string | null {
  const claim = context.store.get("claim", agent);
  return claim === null || claim.status === "unclaimed" ? null : claim.xHandle.toLowerCase();
}

/**
 * The ids of the clusters of some agents, in the form in which an assignment publishes them. Both kinds of clusters
 * are named.
 */
export function clustersOf(context: ApplyContext, agents: string[]): { [agent: string]: string[] } {
  const clusters: { [agent: string]: string[] } = {};
  for (const agent of agents) {
    const both = [clusterOf(context, agent, "ownership"), clusterOf(context, agent, "fingerprint")];
    clusters[agent] = both.flatMap((it) => (it === null ? [] : [it.id]));
  }
  return clusters;
}

/** Notes when an auditor was last asked about a buyer and a seller. */
export function notePair(context: ApplyContext, audit: Row<"audit">, auditor: string): void {
  context.store.put("auditPair", { id: pairId(audit, auditor), time: context.at.time });
}

function pairId({ buyer, seller }: { buyer: string; seller: string }, auditor: string): string {
  return `${auditor}/${buyer}/${seller}`;
}
