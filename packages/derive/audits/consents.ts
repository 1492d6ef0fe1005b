import { changeAgent, findAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { append, itemOf, itemsOf, lastItem, tailItems } from "../lists.ts";
import type { Store } from "../store.ts";
import type { Row } from "../tables.ts";

/**
 * Whose audits a listing agrees to, from when on: numbered rows `<seconds> <operator>`, a hyphen for nobody. They are in order, so
 * that what held at a payment is found by halving. A change holds `consentSeconds` after its listing: who is about to sell
 * bad work cannot step out of the audits for one hire.
 */
const NOBODY = "-";

/** As many as stand in the row of a list itself. */
const FEW = 16;

/**
 * Notes what a listing says of audits; it is a change when the listing said something else before.
 *
 * @returns the change, and from when on it holds; null when it is none
 */
export async function noteConsent(
  context: ApplyContext,
  { id, agent }: { id: string; agent: string },
  operator: string | null,
): Promise<{ operator: string | null; from: number } | null> {
  const last = await lastItem(context.store, consentsOf(id));
  const [since = 0, current] = last === null ? [0, NOBODY] : parse(last);
  const next = operator ?? NOBODY;
  if (next === current) return null;
  if (last === null) {
    await append(context.store, consentingOf(agent), id);
    await changeAgent(context, agent, { everConsented: true });
  }
  // Never before the change before it, also when less waiting is asked for since.
  const from = Math.max(since, context.at.time + context.params.audit.consentSeconds);
  await append(context.store, consentsOf(id), `${from} ${next}`);
  return { operator, from };
}

/** Whether a seller ever agreed to audits, by whichever listing. */
export async function everConsented(context: ApplyContext, seller: string): Promise<boolean> {
  return (await findAgent(context, seller))?.everConsented ?? false;
}

/** Whose audits a listing agreed to at a time, or null. What it said last stands in its own row. */
export async function consentOfListing(
  store: Store,
  { id, auditOperator, auditFrom }: Pick<Row<"listing">, "id" | "auditOperator" | "auditFrom">,
  time: number,
): Promise<string | null> {
  if (auditFrom === null) return null;
  return auditFrom <= time ? auditOperator : consentAt(store, id, time);
}

async function consentAt(store: Store, listing: string, time: number): Promise<string | null> {
  const list = consentsOf(listing);
  const row = await store.get("list", list);
  if (row === null) return null;
  // Most listings say something of it once: the row of the list has it all.
  if (row.length < FEW) return operatorIn(tailItems(row).findLast((it) => parse(it)[0] <= time));
  let [low, high] = [0, row.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const [since] = parse((await itemOf(store, list, middle)) ?? "");
    if (since <= time) low = middle + 1;
    else high = middle;
  }
  return operatorIn(low === 0 ? undefined : ((await itemOf(store, list, low - 1)) ?? undefined));
}

function operatorIn(item: string | undefined): string | null {
  const operator = item === undefined ? NOBODY : parse(item)[1];
  return operator === NOBODY ? null : operator;
}

/** Whose audits any of a seller's listings agreed to at a time: of the first that did. */
export async function anyConsentAt(store: Store, seller: string, time: number): Promise<string | null> {
  for await (const listing of itemsOf(store, consentingOf(seller))) {
    const operator = await consentAt(store, listing, time);
    if (operator !== null) return operator;
  }
  return null;
}

function parse(item: string): [since: number, operator: string] {
  const [since = "", operator = NOBODY] = item.split(" ");
  return [Number(since), operator];
}

function consentsOf(listing: string): string {
  return `consents/${listing}`;
}

/** The list of a seller's listings that ever agreed. */
function consentingOf(seller: string): string {
  return `consenting/${seller}`;
}
