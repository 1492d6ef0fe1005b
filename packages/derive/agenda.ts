import { BUCKET_SECONDS } from "./agendaBuckets.ts";
import { append, itemsOf, listLength } from "./lists.ts";
import { addEntry, entriesUp } from "./orderIndex.ts";
import { STATE_ID } from "./stateId.ts";
import type { Step } from "./step.ts";

/**
 * What can fall due: a hire leaves the 24-hour or the 30-day window, a rating or an audit the latter, a receipt has waited long enough for its payment, a
 * presumed hire payment for its receipt, a hire for what its seller says of it, an audit for its verdict;
 * a verdict is too old for its auditor's share, or for what is judged of it; a false refund leaves the window; a transfer that came back leaves it, a family may be
 * old enough, a payment or a refunded escrow has waited for its seller's word, or leaves the window without.
 */
export type AgendaKind =
  | "day"
  | "window"
  | "rating"
  | "receipt"
  | "payment"
  | "disclosure"
  | "verdict"
  | "audit"
  | "share"
  | "falseRefund"
  | "agreement"
  | "breach"
  | "flow"
  | "family"
  | "unreceipted"
  | "unpaid"
  | "unanswered"
  | "answered";

/**
 * Puts `kind what` on the agenda, to be run by the first tick with time ≥ `due`.
 *
 * @param due later than the last tick
 * @param what the row it is about, or all that has to be known of it, in words
 */
export async function schedule(step: Step, due: number, kind: AgendaKind, what: string): Promise<void> {
  const bucket = Math.floor(due / BUCKET_SECONDS);
  const isNew = (await listLength(step.store, listName(bucket))) === 0;
  if (isNew) await addEntry(step.store, BUCKETS, { at: bucket, member: "" });
  await append(step.store, listName(bucket), `${due} ${kind} ${what}`);
}

/** Runs all that became due since the last tick, at `time`: each item once. */
export async function runAgenda(
  step: Step,
  time: number,
  run: (kind: AgendaKind, words: string[]) => Promise<void>,
): Promise<void> {
  const current = Math.floor(time / BUCKET_SECONDS);
  const { time: since, agendaBucket: next } = step.state;
  for await (const { at: bucket } of entriesUp(step.store, BUCKETS, next ?? current, current)) {
    for await (const item of itemsOf(step.store, listName(bucket))) {
      const [due, kind, ...words] = item.split(" ") as [string, AgendaKind, ...string[]];
      if (Number(due) > since && Number(due) <= time) await run(kind, words);
    }
  }
  await step.store.update("state", STATE_ID, { agendaBucket: current });
}

const BUCKETS = "agendaBuckets";

function listName(bucket: number): string {
  return `agenda/${bucket}`;
}
