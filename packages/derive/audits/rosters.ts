import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";

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
  context.store.put("rosterMember", { id, place });
  context.store.put("roster", { id: roster, size: place + 1 });
}

export function leaveRoster(context: ApplyContext, roster: string, auditor: string): void {
  const id = `${roster}/${auditor}`;
  const place = context.store.get("rosterMember", id)?.place ?? null;
  if (place === null) return;
  const last = rosterSize(context, roster) - 1;
  const lastAuditor = auditorAt(context, roster, last);
  put(context, roster, place, lastAuditor);
  context.store.put("rosterMember", { id: `${roster}/${lastAuditor}`, place });
  context.store.put("rosterMember", { id, place: null });
  context.store.put("roster", { id: roster, size: last });
}

export function rosterSize(context: ApplyContext, roster: string): number {
  return context.store.get("roster", roster)?.size ?? 0;
}

export function auditorAt(context: ApplyContext, roster: string, place: number): string {
  return existingRow(context.store, "rosterPlace", `${roster}/${place}`).auditor;
}

/** The id of a roster: `<operator>/<capability>`. */
export function rosterOf(operator: string, capability: string): string {
  return `${operator}/${capability}`;
}

function put(context: ApplyContext, roster: string, place: number, auditor: string): void {
  context.store.put("rosterPlace", { id: `${roster}/${place}`, auditor });
}
