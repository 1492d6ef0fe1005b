import { agentRow, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { clusterOf, joinCluster } from "../clusters.ts";
import type { Row } from "../tables.ts";
import { ensureClass, nearClasses } from "./classes.ts";
import { tokensOf } from "./tokens.ts";

/** Puts an agent into the class of its live listings, and trips the signal for all who now have enough similar agents. */
export async function updateFingerprint(
  context: ApplyContext,
  address: string,
  live: Row<"listing">[],
): Promise<void> {
  const agent = await agentRow(context, address);
  const target = live.length === 0 ? null : await ensureClass(context, tokensOf(live));
  if (agent.fingerprint === (target?.id ?? null)) return;
  if (agent.fingerprint !== null) await leaveClass(context, agent, agent.fingerprint);
  if (target !== null) await enterClass(context, address, target.id);
}

async function leaveClass(context: ApplyContext, agent: Row<"agent">, id: string): Promise<void> {
  const { members } = await classRow(context, id);
  // The last member takes the free place.
  const last = await memberAt(context, id, members - 1);
  await context.store.update("fingerprintMember", `${id}/${agent.fingerprintPlace}`, { agent: last });
  await updateAgent(context, last, { fingerprintPlace: agent.fingerprintPlace });
  await updateAgent(context, agent.id, { fingerprint: null, fingerprintPlace: 0 });
  await context.store.update("fingerprint", id, { members: members - 1 });
  await changeAround(context, id, -1);
}

async function enterClass(context: ApplyContext, address: string, id: string): Promise<void> {
  const { members } = await classRow(context, id);
  const place = `${id}/${members}`;
  if ((await context.store.get("fingerprintMember", place)) === null) {
    await context.store.insert("fingerprintMember", { id: place, agent: address });
  } else {
    await context.store.update("fingerprintMember", place, { agent: address });
  }
  await updateAgent(context, address, { fingerprint: id, fingerprintPlace: members });
  await context.store.update("fingerprint", id, { members: members + 1 });
  await joinAlike(context, await changeAround(context, id, 1), address);
}

/** The class and the classes near it, after one member joined or left; `wasCore` as before the change. */
async function changeAround(
  context: ApplyContext,
  id: string,
  by: 1 | -1,
): Promise<{ row: Row<"fingerprint">; wasCore: boolean }[]> {
  const changed: { row: Row<"fingerprint">; wasCore: boolean }[] = [];
  for (const row of [await classRow(context, id), ...(await nearClasses(context, id))]) {
    const around = row.around + by;
    // A class that loses members does not become a core, whatever was published meanwhile: nobody joins it now.
    const core = row.members > 0 && around > context.params.clusterOthers && (by === 1 || row.core);
    await context.store.update("fingerprint", row.id, { around, core });
    changed.push({ row: { ...row, around, core }, wasCore: row.core });
  }
  return changed;
}

/**
 * A class with members is a core when each of them has `clusterOthers` similar agents: then all of them are one cluster.
 * The classes that a new member makes cores, or enters, are similar to it, so they are one group. For a class that was a
 * core before, one member stands for the others, and for other such classes in its cluster.
 */
async function joinAlike(
  context: ApplyContext,
  classes: { row: Row<"fingerprint">; wasCore: boolean }[],
  newcomer: string,
): Promise<void> {
  const members = new Set<string>();
  const clusters = new Set<string>();
  for (const { row, wasCore } of classes) {
    if (!row.core) continue;
    if (!wasCore) {
      for (const alike of await membersAround(context, row)) members.add(alike);
      continue;
    }
    const member = await memberAt(context, row.id, 0);
    const cluster = await clusterOf(context, member, "fingerprint");
    if (cluster === null || !clusters.has(cluster.id)) members.add(member);
    if (cluster !== null) clusters.add(cluster.id);
  }
  if (members.size === 0) return;
  members.add(newcomer);
  await joinCluster(context, { members: [...members], signal: "listing_fingerprint", funder: null });
}

/** All members of a class and of the classes near it. One member stands for a near class that is in one cluster already. */
async function membersAround(context: ApplyContext, own: Row<"fingerprint">): Promise<string[]> {
  const found: string[] = [];
  for (const it of [own, ...(await nearClasses(context, own.id))]) {
    const count = it.core && it.id !== own.id ? Math.min(1, it.members) : it.members;
    for (let place = 0; place < count; place++) found.push(await memberAt(context, it.id, place));
  }
  return found;
}

async function memberAt(context: ApplyContext, id: string, place: number): Promise<string> {
  const row = await context.store.get("fingerprintMember", `${id}/${place}`);
  if (row === null) throw new Error(`The class ${id} has no member at ${place}.`);
  return row.agent;
}

async function classRow(context: ApplyContext, id: string): Promise<Row<"fingerprint">> {
  const row = await context.store.get("fingerprint", id);
  if (row === null) throw new Error(`There is no fingerprint class ${id}.`);
  return row;
}
