import { changeAgent, findAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { lastWhere } from "../lastWhere.ts";
import { append, itemsOf, lastItem } from "../lists.ts";
import type { Store } from "../store.ts";
import type { Row } from "../tables.ts";

/**
 * The audit operators that a listing agrees to, as numbered rows `<seconds> <operator>`, where a hyphen means
 * nobody. The rows are in order of time, so a binary search finds the operator at the time of a payment. A
 * change takes effect `consentSeconds` after its listing, so a seller cannot leave the audits just before it
 * delivers bad work.
 */
const NOBODY = "-";

/**
 * Stores the audit operator that a listing names, if it changed.
 *
 * @returns the new operator and when the change takes effect; null without a change
 */
export function noteConsent(
  context: ApplyContext,
  { id, agent }: { id: string; agent: string },
  operator: string | null,
): { operator: string | null; from: number } | null {
  const last = lastItem(context.store, consentsOf(id));
  const [since, current] = last === null ? [0, NOBODY] : parse(last);
  const next = operator ?? NOBODY;
  if (next === current) return null;
  if (last === null) {
    append(context.store, consentingOf(agent), id);
    changeAgent(context, agent, { everConsented: true });
  }
  // A change never takes effect before the previous change, even if the parameters now have a shorter wait.
  const from = Math.max(since, context.at.time + context.params.audit.consentSeconds);
  append(context.store, consentsOf(id), `${from} ${next}`);
  return { operator, from };
}

/** Whether a seller ever agreed to audits, in any listing. */
export function everConsented(context: ApplyContext, seller: string): boolean {
  return findAgent(context, seller)?.everConsented ?? false;
}

/**
 * The audit operator to which a listing agreed at a time; null for nobody. The row of the listing has the operator of
 * its last change.
 */
export function consentOfListing(
  store: Store,
  { id, auditOperator, auditFrom }: Pick<Row<"listing">, "id" | "auditOperator" | "auditFrom">,
  time: number,
): string | null {
  if (auditFrom === null) return null;
  return auditFrom <= time ? auditOperator : consentAt(store, id, time);
}

function consentAt(store: Store, listing: string, time: number): string | null {
  const item = lastWhere(store, consentsOf(listing), (it) => parse(it)[0] <= time);
  const operator = item === null ? NOBODY : parse(item)[1];
  return operator === NOBODY ? null : operator;
}

/** The audit operator that a seller agreed to at a time. The first of its listings that agreed decides. */
export function anyConsentAt(store: Store, seller: string, time: number): string | null {
  for (const listing of itemsOf(store, consentingOf(seller))) {
    const operator = consentAt(store, listing, time);
    if (operator !== null) return operator;
  }
  return null;
}

function parse(item: string): [since: number, operator: string] {
  const [since, operator] = item.split(" ") as [string, string];
  return [Number(since), operator];
}

function consentsOf(listing: string): string {
  return `consents/${listing}`;
}

/** The list of a seller's listings that ever agreed to audits. */
function consentingOf(seller: string): string {
  return `consenting/${seller}`;
}
