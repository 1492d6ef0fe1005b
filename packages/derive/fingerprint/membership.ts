import { agentRow, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { clusterOf, joinCluster } from "../clusters.ts";
import { existingRow } from "../existingRow.ts";
import { forEachRow } from "../loadedRows.ts";
import type { Row } from "../tables.ts";
import { classId, ensureClass, nearClasses } from "./classes.ts";
import type { Class } from "./classLists.ts";
import { tokensOf } from "./tokens.ts";

/**
 * Puts an agent into the class of its live listings. The signal trips for all agents that now have enough
 * similar agents.
 */
export function updateFingerprint(context: ApplyContext, address: string, live: Row<"listing">[]): void {
  const agent = agentRow(context, address);
  const tokens = live.length === 0 ? null : tokensOf(live, context.sha256Hex);
  if (agent.fingerprint === (tokens && classId(context, tokens))) return;
  if (agent.fingerprint !== null) leaveClass(context, agent, agent.fingerprint);
  if (tokens !== null) enterClass(context, address, ensureClass(context, tokens));
}

function leaveClass(context: ApplyContext, agent: Row<"agent">, id: string): void {
  const own = classRow(context, id);
  const near = nearClasses(context, own);
  const members = own.members - 1;
  // The last member takes the free place.
  const last = memberAt(context, id, members);
  context.store.update("fingerprintMember", `${id}/${agent.fingerprintPlace}`, { agent: last });
  updateAgent(context, last, { fingerprintPlace: agent.fingerprintPlace });
  updateAgent(context, agent.id, { fingerprint: null, fingerprintPlace: 0 });
  // Strangers' tokens may be long. Nobody reads the tokens of a class that disappeared, so they are deleted.
  const left = { ...own, members, tokens: members === 0 ? "" : own.tokens };
  changeAround(context, left, near, -1);
}

function enterClass(
  context: ApplyContext,
  address: string,
  { own, near }: { own: Class; near: Class[] },
): void {
  const { id, members } = own;
  context.store.put("fingerprintMember", { id: `${id}/${members}`, agent: address });
  updateAgent(context, address, { fingerprint: id, fingerprintPlace: members });
  joinAlike(context, changeAround(context, { ...own, members: members + 1 }, near, 1), address);
}

/**
 * Stores a class that a member joined (`by` 1) or left (−1), and counts this member in it and in the classes near it.
 * Returns all of them. `wasCore` says whether a class was a core before.
 */
function changeAround(
  context: ApplyContext,
  own: Class,
  near: readonly Class[],
  by: 1 | -1,
): { row: Class; wasCore: boolean }[] {
  return [own, ...near].map((row) => {
    const around = row.around + by;
    // A class that loses a member does not become a core, even if new parameters would allow this, because no agent
    // joins it now.
    const core = row.members > 0 && around > context.params.clusterOthers && (by === 1 || row.core);
    const changed = { ...row, around, core };
    context.store.put("fingerprint", changed);
    return { row: changed, wasCore: row.core };
  });
}

/**
 * A class with members is a core when each of them has `clusterOthers` similar agents. Then its members and the members
 * of the classes near it are one cluster. A new member can make its own class and classes near it cores. For each class
 * that becomes a core, all these members join the cluster of the new member. The members of a class that was a core
 * before are in one cluster already, so one of them is enough. If several such classes are in the same cluster, one
 * member of one class is enough.
 */
function joinAlike(
  context: ApplyContext,
  classes: readonly { row: Class; wasCore: boolean }[],
  newcomer: string,
): void {
  const members = new Set<string>();
  const clusters = new Set<string>();
  forEachRow(classes, ({ row, wasCore }) => {
    if (!row.core) return;
    if (!wasCore) {
      for (const alike of membersAround(context, row)) members.add(alike);
      return;
    }
    const member = memberAt(context, row.id, 0);
    const cluster = clusterOf(context, member, "fingerprint");
    if (cluster === null || !clusters.has(cluster.id)) members.add(member);
    if (cluster !== null) clusters.add(cluster.id);
  });
  if (members.size === 0) return;
  members.add(newcomer);
  joinCluster(context, { members: [...members], signal: "listing_fingerprint", funder: null });
}

/**
 * All members of a class and of the classes near it. One member stands for a near class that is in one cluster already.
 */
function membersAround(context: ApplyContext, own: Class): string[] {
  const found: string[] = [];
  forEachRow([own, ...nearClasses(context, own)], (it) => {
    const count = it.core && it.id !== own.id ? 1 : it.members;
    forEachRow(Array(count).keys(), (place) => found.push(memberAt(context, it.id, place)));
  });
  return found;
}

function memberAt(context: ApplyContext, id: string, place: number): string {
  return existingRow(context.store, "fingerprintMember", `${id}/${place}`).agent;
}

function classRow(context: ApplyContext, id: string): Class {
  return existingRow(context.store, "fingerprint", id);
}
