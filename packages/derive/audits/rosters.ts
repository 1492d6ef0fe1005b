import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";

/**
 * The auditors of an operator for a capability that are in Tier 2, in numbered places, so that a number picks one. When one
 * leaves, the last takes its place. Other offers have no place: a crowd of strangers cannot hide the eligible auditors.
 */
export async function joinRoster(context: ApplyContext, roster: string, auditor: string): Promise<void> {
  const id = `${roster}/${auditor}`;
  const member = await context.store.get("rosterMember", id);
  if (member !== null && member.place !== null) return;
  const place = await rosterSize(context, roster);
  await put(context, roster, place, auditor);
  await setSize(context, roster, place + 1);
  if (member === null) await context.store.insert("rosterMember", { id, place });
  else await context.store.update("rosterMember", id, { place });
}

export async function leaveRoster(context: ApplyContext, roster: string, auditor: string): Promise<void> {
  const id = `${roster}/${auditor}`;
  const place = (await context.store.get("rosterMember", id))?.place ?? null;
  if (place === null) return;
  const last = (await rosterSize(context, roster)) - 1;
  const lastAuditor = await auditorAt(context, roster, last);
  await put(context, roster, place, lastAuditor);
  await context.store.update("rosterMember", `${roster}/${lastAuditor}`, { place });
  await context.store.update("rosterMember", id, { place: null });
  await setSize(context, roster, last);
}

export async function rosterSize(context: ApplyContext, roster: string): Promise<number> {
  return (await context.store.get("roster", roster))?.size ?? 0;
}

export async function auditorAt(context: ApplyContext, roster: string, place: number): Promise<string> {
  const row = await context.store.get("rosterPlace", `${roster}/${place}`);
  if (row === null) throw new Error(`The roster ${roster} has no place ${place}.`);
  return row.auditor;
}

/** `<operator>/<capability>`. */
export function rosterOf(operator: string, capability: string): string {
  return `${operator}/${capability}`;
}

async function put(context: ApplyContext, roster: string, place: number, auditor: string): Promise<void> {
  const row: Row<"rosterPlace"> = { id: `${roster}/${place}`, auditor };
  if ((await context.store.get("rosterPlace", row.id)) === null)
    await context.store.insert("rosterPlace", row);
  else await context.store.update("rosterPlace", row.id, { auditor });
}

async function setSize(context: ApplyContext, roster: string, size: number): Promise<void> {
  if ((await context.store.get("roster", roster)) === null)
    await context.store.insert("roster", { id: roster, size });
  else await context.store.update("roster", roster, { size });
}
