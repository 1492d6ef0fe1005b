import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";

/**
 * Adds an auditor to a roster. A roster has the auditors of an operator for a capability that are in Tier 2. Their
 * places are numbered, so a number picks an auditor. When an auditor leaves, the last one takes its place. Agents
 * outside Tier 2 get no place. So a crowd of strangers cannot make the eligible auditors hard to find.
 */
export function joinRoster(context: ApplyContext, roster: string, auditor: string): void {
  const id = `${roster}/${auditor}`;
  const member = context.store.get("rosterMember", id);
  if (member !== null && member.place !== null) return;
  const place = rosterSize(context, roster);
  put(context, roster, place, auditor);
  setSize(context, roster, place + 1);
  if (member === null) context.store.insert("rosterMember", { id, place });
  else context.store.update("rosterMember", id, { place });
}

export function leaveRoster(context: ApplyContext, roster: string, auditor: string): void {
  const id = `${roster}/${auditor}`;
  const place = context.store.get("rosterMember", id)?.place ?? null;
  if (place === null) return;
  const last = rosterSize(context, roster) - 1;
  const lastAuditor = auditorAt(context, roster, last);
  put(context, roster, place, lastAuditor);
  context.store.update("rosterMember", `${roster}/${lastAuditor}`, { place });
  context.store.update("rosterMember", id, { place: null });
  setSize(context, roster, last);
}

export function rosterSize(context: ApplyContext, roster: string): number {
  return context.store.get("roster", roster)?.size ?? 0;
}

export function auditorAt(context: ApplyContext, roster: string, place: number): string {
  const row = context.store.get("rosterPlace", `${roster}/${place}`);
  if (row === null) throw new Error(`The roster ${roster} has no place ${place}.`);
  return row.auditor;
}

/** The id of a roster: `<operator>/<capability>`. */
export function rosterOf(operator: string, capability: string): string {
  return `${operator}/${capability}`;
}

function put(context: ApplyContext, roster: string, place: number, auditor: string): void {
  const row: Row<"rosterPlace"> = { id: `${roster}/${place}`, auditor };
  if (context.store.get("rosterPlace", row.id) === null) context.store.insert("rosterPlace", row);
  else context.store.update("rosterPlace", row.id, { auditor });
}

function setSize(context: ApplyContext, roster: string, size: number): void {
  if (context.store.get("roster", roster) === null) context.store.insert("roster", { id: roster, size });
  else context.store.update("roster", roster, { size });
}
