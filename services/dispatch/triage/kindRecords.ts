import { tryForeignJson } from "tallystick-protocol/json/foreignJson";
import { requestService } from "tallystick-sdk/requestService";
import type { Settlement } from "./settlementRules.ts";

/** How many entries are read back at most, how many at once, and the time between two readings. */
const BACK = 5_000;
const PAGE = 500;
const EVERY_MS = 10_000;
const MAX_KINDS = 1_000;

export type KindRecord = { tasks: number; escalated: number };

/**
 * The ledger's figures for tasks of each kind that this dispatcher settled: how many began below the highest tier, and
 * how many of these had to be escalated. The ledger is read page by page, and at most its last 5,000 entries. Tasks
 * that come during a reading wait for the same reading.
 *
 * @param dispatcher whose entries count. Other clients of settlement could write such entries too. So they can make a
 * kind look harder than it is, and tasks more expensive, but only within the budget
 * @param now milliseconds since 1970
 */
export function kindRecords(settlement: Settlement, dispatcher: string, now: () => number) {
  const kinds = new Map<string, KindRecord>();
  let next: number | undefined;
  let readAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<void> | undefined;

  async function read(signal: AbortSignal): Promise<void> {
    const { baseUrl, fetch } = settlement;
    const ask = (from: number, to: number) =>
      requestService({ baseUrl, path: `/v1/ledger/entries?from=${from}&to=${to}`, fetch, signal });
    // A node in front of settlement gives entries up to the last anchor only, so the size is that of the entries that
    // it gives. It may give fewer lines than asked for.
    const size = Number((await ask(0, 0)).headers.get("x-ledger-size") ?? Number.NaN);
    if (!Number.isSafeInteger(size)) return;
    let from = Math.max(next ?? 0, size - BACK);
    // A task waits for this loop. So the loop reads a limited number of entries, even if the ledger has grown much or
    // says so.
    for (let pages = 0; from < size && pages < BACK / PAGE; pages++) {
      const { text } = await ask(from, Math.min(size, from + PAGE));
      const lines = text.split("\n", PAGE).filter((it) => it !== "");
      if (lines.length === 0) break;
      for (const line of lines) count(tryForeignJson(line));
      from += lines.length;
      next = from;
    }
    readAt = now();
  }

  function count(entry: unknown): void {
    const told = Object(Object(Object(Object(entry).payload).agent_metadata).dispatch);
    const { kind, tier, escalations, closing } = told;
    if (told.dispatcher !== dispatcher || typeof kind !== "string" || closing !== undefined) return;
    if (!Array.isArray(escalations) || (tier === "premium" && escalations.length === 0)) return;
    const known = kinds.get(kind) ?? { tasks: 0, escalated: 0 };
    if (kinds.size >= MAX_KINDS && !kinds.has(kind)) return;
    kinds.set(kind, {
      tasks: known.tasks + 1,
      escalated: known.escalated + (escalations.length > 0 ? 1 : 0),
    });
  }

  /**
   * Returns the figures of a kind. Reads new entries if the last reading is more than ten seconds old. Entries that
   * cannot be read now are left out, because complexity is only a first guess.
   */
  return async (kind: string, signal: AbortSignal): Promise<KindRecord> => {
    if (now() - readAt > EVERY_MS) {
      reading ??= read(signal).finally(() => {
        reading = undefined;
      });
      await reading.catch(() => signal.throwIfAborted());
    }
    return kinds.get(kind) ?? { tasks: 0, escalated: 0 };
  };
}
