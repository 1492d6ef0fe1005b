import { agentRow, updateAgent } from "../agentRow.ts";
import { joinCluster } from "../clusters.ts";
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
  await changeAround(step, id, 1);

  await tripIfCore(step, id, address);
  for await (const near of nearClasses(step, id)) await tripIfCore(step, near.id, address);
}

async function changeAround(step: Step, id: string, by: 1 | -1): Promise<void> {
  const classes = [await classRow(step, id)];
  for await (const near of nearClasses(step, id)) classes.push(near);
  for (const it of classes) {
    const around = it.around + by;
    const core = it.core && it.members > 0 && around > step.params.clusterOthers;
    await step.store.update("fingerprint", it.id, { around, core });
  }
}

/**
 * A class with members is a core when each of them has `clusterOthers` others alike: all of them are one cluster then. Once
 * it is, only the newcomer has to be joined to it.
 */
async function tripIfCore(step: Step, id: string, newcomer: string): Promise<void> {
  const { members, around, core } = await classRow(step, id);
  if (members === 0 || around <= step.params.clusterOthers) return;
  const alike = core ? [await memberAt(step, id, 0)] : await membersAround(step, id);
  await step.store.update("fingerprint", id, { core: true });
  await joinCluster(step, { members: [...alike, newcomer], signal: "listing_fingerprint", funder: null });
}

/** All members of a class and of those near it; one stands for a near class that is in one cluster already. */
async function membersAround(step: Step, id: string): Promise<string[]> {
  const found: string[] = [];
  const classes = [await classRow(step, id)];
  for await (const near of nearClasses(step, id)) classes.push(near);
  for (const it of classes) {
    const count = it.core && it.id !== id ? Math.min(1, it.members) : it.members;
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
