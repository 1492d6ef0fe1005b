import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";

/**
 * The auditors of an operator for a capability that are in Tier 2, in numbered places, so that a number picks one. Who leaves gives
 * its place to the last. Offers of all others have no place: a crowd of strangers cannot hide those that may be asked.
 */
export async function joinRoster(step: Step, roster: string, auditor: string): Promise<void> {
  const id = `${roster}/${auditor}`;
  const member = await step.store.get("rosterMember", id);
  if (member !== null && member.place !== null) return;
  const place = await rosterSize(step, roster);
  await put(step, roster, place, auditor);
  await setSize(step, roster, place + 1);
  if (member === null) await step.store.insert("rosterMember", { id, place });
  else await step.store.update("rosterMember", id, { place });
}

export async function leaveRoster(step: Step, roster: string, auditor: string): Promise<void> {
  const id = `${roster}/${auditor}`;
  const place = (await step.store.get("rosterMember", id))?.place ?? null;
  if (place === null) return;
  const last = (await rosterSize(step, roster)) - 1;
  const lastAuditor = await auditorAt(step, roster, last);
  await put(step, roster, place, lastAuditor);
  await step.store.update("rosterMember", `${roster}/${lastAuditor}`, { place });
  await step.store.update("rosterMember", id, { place: null });
  await setSize(step, roster, last);
}

export async function rosterSize(step: Step, roster: string): Promise<number> {
  return (await step.store.get("roster", roster))?.size ?? 0;
}

export async function auditorAt(step: Step, roster: string, place: number): Promise<string> {
  const row = await step.store.get("rosterPlace", `${roster}/${place}`);
  if (row === null) throw new Error(`The roster ${roster} has no place ${place}.`);
  return row.auditor;
}

/** `<operator>/<capability>`. */
export function rosterOf(operator: string, capability: string): string {
  return `${operator}/${capability}`;
}

async function put(step: Step, roster: string, place: number, auditor: string): Promise<void> {
  const row: Row<"rosterPlace"> = { id: `${roster}/${place}`, auditor };
  if ((await step.store.get("rosterPlace", row.id)) === null) await step.store.insert("rosterPlace", row);
  else await step.store.update("rosterPlace", row.id, { auditor });
}

async function setSize(step: Step, roster: string, size: number): Promise<void> {
  if ((await step.store.get("roster", roster)) === null)
    await step.store.insert("roster", { id: roster, size });
  else await step.store.update("roster", roster, { size });
}
