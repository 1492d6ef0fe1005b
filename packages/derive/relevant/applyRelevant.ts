import { applyInParts, type RunWithRows } from "../apply.ts";
import type { ApplyOptions } from "../applyContext.ts";
import type { DeriveEvent, PastEvent, TransferEvent } from "../events.ts";
import type { Store } from "../store.ts";
import { Transaction } from "../transaction.ts";
import { Answered, eachOnce } from "./answered.ts";
import { isWatched } from "./inflow.ts";
import { linesOf } from "./linesOf.ts";
import type { Read } from "./reads.ts";

/**
 * Reads the chain. For each read, in order, it gives at least the transfers that the read asks for, in the order of the
 * chain. `event` is the event that needs them. For `authorization` the answer is the event itself, with the right
 * `authorized`.
 */
export type ReadPast = (
  reads: readonly Read[],
  event: DeriveEvent,
) => Promise<readonly TransferEvent[][]> | readonly TransferEvent[][];

/**
 * A funding path has at most five legs, and each needs two reads of earlier transfers. Receipts and their
 * parties need a few more.
 */
const MAX_ROUNDS = 100;

/**
 * Applies one event of the chain to the rows of a relevant log, after the earlier transfers that it needs. First the
 * event is tried without writing. The transfers that it asked for are read and added to the log, and the event is tried
 * again, until nothing is missing. After that, the changes are written to `store`.
 *
 * @param event the next event of the chain. Every event of the chain must be given, in order
 * @param run runs work for a store that does not have all rows in memory
 * @returns the lines that the log gets, in order; none for a transfer that concerns nobody
 */
export async function applyRelevant(
  store: Store,
  event: DeriveEvent,
  read: ReadPast,
  options: ApplyOptions = {},
  run: RunWithRows = (work) => work(),
): Promise<DeriveEvent[]> {
  if (event.kind === "transfer" && !(await run(() => isWatched({ store }, event.to, event)))) return [];
  const rows = new Transaction(store);
  const told = new Map<string, PastEvent>();
  const answered = new Answered();
  let tried = event.kind === "transfer" ? { ...event, authorized: false } : event;
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const asked: Read[] = [];
    const ask = (it: Read) => answered.has(it) || asked.push(it) === 0;
    const attempt = await applyInParts(rows, tried, { ...options, ask }, (work) => {
      const before = asked.length;
      return run(() => {
        // An attempt that lacked rows may have asked for transfers that the event does not need.
        asked.length = before;
        return work();
      });
    });
    if (asked.length === 0) {
      attempt.commitTo(rows);
      rows.commitTo(store);
      return [...inOrder(told), tried];
    }
    const reads = eachOnce(asked);
    const answers = await read(reads, tried);
    for (const [n, it] of reads.entries()) {
      const transfers = answers[n] ?? [];
      for (const line of linesOf(it, transfers)) {
        told.set(placeKey(line), line);
        (await applyInParts(rows, line, options, run)).commitTo(rows);
      }
      if (it.kind === "authorization" && tried.kind === "transfer") {
        tried = { ...tried, authorized: transfers.some((one) => one.authorized) };
      }
      answered.add(it);
    }
  }
  throw new Error(`The event of block ${event.block} asks for earlier transfers without end.`);
}

/**
 * The sort key of a line: its position. At one position the transfers that reached a wallet come first, then
 * the payments that a receipt may claim, then the counts.
 */
function placeKey(line: PastEvent): string {
  const { block, log, kind } = line;
  const rank = kind === "count" ? `2 ${line.side} ${line.transfers}` : Number(line.authorized !== undefined);
  return [String(block).padStart(16, "0"), String(log).padStart(16, "0"), rank].join(" ");
}

function inOrder(told: ReadonlyMap<string, PastEvent>): PastEvent[] {
  return [...told].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, line]) => line);
}
