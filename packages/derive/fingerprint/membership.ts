import { agentRow, updateAgent } from "../agentRow.ts";
import { clusterOf, joinCluster } from "../clusters.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { ensureClass, nearClasses } from "./classes.ts";
import { tokensOf } from "./tokens.ts";

/** Puts an agent into the class of its live listings, and trips the signal for all who now have enough others alike. */
export async function updateFingerprint(step: Step, address: string, live: Row<"listing">[]): Promise<void> {
  const agent = await agentRow(step, address);
  const target = live.length === 0 ? null : await ensureClass(step, tokensOf(live));
  if (agent.fingerprint === (target?.id ?? null)) return;
  if (agent.fingerprint !== null) await leaveClass(step, agent, agent.fingerprint);
  if (target !== null) await enterClass(step, address, target.id);
}

async function leaveClass(step: Step, agent: Row<"agent">, id: string): Promise<void> {
  const { members } = await classRow(step, id);
  // The last member takes the place that becomes free.
  const last = await memberAt(step, id, members - 1);
  await step.store.update("fingerprintMember", `${id}/${agent.fingerprintPlace}`, { agent: last });
  await updateAgent(step, last, { fingerprintPlace: agent.fingerprintPlace });
  await updateAgent(step, agent.id, { fingerprint: null, fingerprintPlace: 0 });
  await step.store.update("fingerprint", id, { members: members - 1 });
  await changeAround(step, id, -1);
}

async function enterClass(step: Step, address: string, id: string): Promise<void> {
  const { members } = await classRow(step, id);
  const place = `${id}/${members}`;
  if ((await step.store.get("fingerprintMember", place)) === null) {
    await step.store.insert("fingerprintMember", { id: place, agent: address });
  } else {
    await step.store.update("fingerprintMember", place, { agent: address });
  }
  await updateAgent(step, address, { fingerprint: id, fingerprintPlace: members });
  await step.store.update("fingerprint", id, { members: members + 1 });
  await joinAlike(step, await changeAround(step, id, 1), address);
}

/** The class and those near it, with one member more or less around; `wasCore` as before, for the classes that were. */
async function changeAround(
  step: Step,
  id: string,
  by: 1 | -1,
): Promise<{ row: Row<"fingerprint">; wasCore: boolean }[]> {
  const changed: { row: Row<"fingerprint">; wasCore: boolean }[] = [];
  for (const row of [await classRow(step, id), ...(await nearClasses(step, id))]) {
    const around = row.around + by;
    // A class that loses members becomes no core, whatever was published meanwhile: nobody joins it now.
    const core = row.members > 0 && around > step.params.clusterOthers && (by === 1 || row.core);
    await step.store.update("fingerprint", row.id, { around, core });
    changed.push({ row: { ...row, around, core }, wasCore: row.core });
  }
  return changed;
}

/**
 * A class with members is a core when each of them has `clusterOthers` others alike: all of them are one cluster then. All
 * that a newcomer makes one, or enters, are alike to it, so they are one group; of a class that was a core before, one
 * member stands for the others, and for those of other such classes in its cluster.
 */
async function joinAlike(
  step: Step,
  classes: { row: Row<"fingerprint">; wasCore: boolean }[],
  newcomer: string,
): Promise<void> {
  const members = new Set<string>();
  const clusters = new Set<string>();
  for (const { row, wasCore } of classes) {
    if (!row.core) continue;
    if (!wasCore) {
      for (const alike of await membersAround(step, row)) members.add(alike);
      continue;
    }
    const member = await memberAt(step, row.id, 0);
    const cluster = await clusterOf(step, member, "fingerprint");
    if (cluster === null || !clusters.has(cluster.id)) members.add(member);
    if (cluster !== null) clusters.add(cluster.id);
  }
  if (members.size === 0) return;
  members.add(newcomer);
  await joinCluster(step, { members: [...members], signal: "listing_fingerprint", funder: null });
}

/** All members of a class and of those near it; one stands for a near class that is in one cluster already. */
async function membersAround(step: Step, own: Row<"fingerprint">): Promise<string[]> {
  const found: string[] = [];
  for (const it of [own, ...(await nearClasses(step, own.id))]) {
    const count = it.core && it.id !== own.id ? Math.min(1, it.members) : it.members;
    for (let place = 0; place < count; place++) found.push(await memberAt(step, it.id, place));
  }
  return found;
}

async function memberAt(step: Step, id: string, place: number): Promise<string> {
  const row = await step.store.get("fingerprintMember", `${id}/${place}`);
  if (row === null) throw new Error(`The class ${id} has no member at ${place}.`);
  return row.agent;
}

async function classRow(step: Step, id: string): Promise<Row<"fingerprint">> {
  const row = await step.store.get("fingerprint", id);
  if (row === null) throw new Error(`There is no fingerprint class ${id}.`);
  return row;
}
