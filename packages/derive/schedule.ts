import type { ApplyContext } from "./applyContext.ts";
import { flat } from "./flat.ts";
import { append, itemsOf } from "./lists.ts";
import { forEachRow } from "./loadedRows.ts";
import { addEntry, numbersUp } from "./orderIndex.ts";
import { BUCKET_SECONDS } from "./scheduleBuckets.ts";
import { STATE_ID } from "./stateId.ts";

/** The kinds of things that can become due. */
export type ScheduleKind =
  /** A hire leaves the window of 24 hours. */
  | "day"
  /** A hire, a rating or an audit leaves the window of 30 days. */
  | "window"
  | "rating"
  | "audit"
  /** A receipt has waited long enough for its payment. */
  | "receipt"
  /** A presumed hire payment has waited long enough for its receipt. */
  | "payment"
  /** The time for a seller's disclosure (`disclosure`) or for an auditor's verdict (`verdict`) is over. */
  | "disclosure"
  | "verdict"
  /**
   * A verdict is too old to count in its auditor's share of all verdicts, or in that auditor's agreement with others.
   */
  | "share"
  | "agreement"
  /** A false refund leaves the window. */
  | "falseRefund"
  /** The time to decide about a breach of an SLA is over. */
  | "breach"
  /** Money that came back to a family leaves the window. */
  | "flow"
  /** A family may be old enough to be established. */
  | "family"
  /**
   * The time for a payment's receipt is over. Without a receipt the payment counts as unreceipted, and later
   * leaves the window.
   */
  | "unreceipted"
  | "unpaid"
  /**
   * The time for the seller's answer to a refund is over. Without an answer the escrow counts as unanswered,
   * and later leaves the window.
   */
  | "unanswered"
  | "answered";

/**
 * Adds an item to the schedule. The first tick with time ≥ `due` runs it.
 *
 * @param due later than the last tick
 * @param what what the item is about: the id of a row, or all data that the run needs, as words with spaces
 * between them
 */
export function schedule(context: ApplyContext, due: number, kind: ScheduleKind, what: string): void {
  const bucket = Math.floor(due / BUCKET_SECONDS);
  const isNew = append(context.store, listName(bucket), flat(`${due} ${kind} ${what}`)) === 1;
  if (isNew) addEntry(context.store, BUCKETS, { at: bucket, member: "" });
}

/** Runs the items that became due after the last tick and until `time`. Each item runs once. */
export function runSchedule(
  context: ApplyContext,
  time: number,
  run: (kind: ScheduleKind, words: string[]) => void,
): void {
  const current = Math.floor(time / BUCKET_SECONDS);
  const { time: since, scheduleBucket: next } = context.state;
  // The rows of all buckets are read together. Otherwise a tick after a long time would run again for each bucket.
  forEachRow(numbersUp(context.store, BUCKETS, next ?? current, current), (bucket) =>
    forEachRow(itemsOf(context.store, listName(bucket)), (item) => {
      const space = item.indexOf(" ");
      const due = Number(item.slice(0, space));
      if (due <= since || due > time) return;
      const [kind, ...words] = item.slice(space + 1).split(" ") as [ScheduleKind, ...string[]];
      run(kind, words);
    }),
  );
  context.store.update("state", STATE_ID, { scheduleBucket: current });
}

const BUCKETS = "scheduleBuckets";

function listName(bucket: number): string {
  return `schedule/${bucket}`;
}
