import type { LedgerEntry } from "tallystick-protocol/ledger/entry";
import type { NewEntry } from "../ledger/diskLedger.ts";

/** A time and a hash as long as the longest ones, to measure an entry before it is made. */
const LONGEST_TIMESTAMP = 1_234_567_890.1234567;
const ANY_REVIEW = "0".repeat(64);

/**
 * The entry that a held proposal becomes when it is released. Its time is not the real time. It has as many characters
 * as the longest time, so the entry can be measured.
 *
 * @param review hash of the review's entry. Default: any, to measure the entry
 */
export function releasedEntry(
  { taskId, divergence }: { taskId: string; divergence?: number },
  payload: LedgerEntry["payload"],
  review: string = ANY_REVIEW,
): NewEntry {
  const isCompared = payload.agent !== undefined && divergence !== undefined;
  return {
    timestamp: LONGEST_TIMESTAMP,
    taskId,
    payload: { ...payload, ...(isCompared && { divergence }), review },
  };
}
