import type { Context } from "ponder:registry";
import type { DeriveEvent, ParamsEvent, TickEvent } from "tallystick-derive/events";
import type { ReadPast } from "tallystick-derive/relevant/applyRelevant";
import { WATCHED } from "tallystick-derive/relevant/inflow";
import type { RowChange } from "tallystick-derive/transaction";
import type { Hex } from "tallystick-protocol/hex";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { remembered } from "tallystick-protocol/signatures/remembered";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";
import { config } from "../environment.ts";
import { timeline } from "../ponder.schema.ts";
import { OrphanedError } from "../relevant/retryRead.ts";
import { isOnChain } from "./isOnChain.ts";
import { countLines } from "./logLines.ts";
import { ponderRows } from "./ponderRows.ts";
import { positionKey } from "./positionKey.ts";
import { openRelevantTransfers } from "./relevantTransfers.ts";
import { type Applied, Projector } from "./rows/projector.ts";
import { RowCache } from "./rows/rowCache.ts";
import { saveSummaries } from "./saveSummaries.ts";
import { momentsOf, timelineKey } from "./timeline.ts";

/**
 * Remembers the signers that it recovered. The signer of a record is needed twice: when the record is loaded, and when
 * it is applied.
 */
export const recover = remembered(await recoverByWasm());

const projector = new Projector(new RowCache(), isOnChain);

/** The block that a handler runs for, as Ponder gives it. */
export type HandlersBlock = { number: bigint; hash: Hex };

const transfers = config.transfers.form === "relevant" ? await openRelevantTransfers(config) : null;

/**
 * Logs events of one block and applies them. This is the only way into the derivation. If the node reads only
 * the transfers that matter, the transfers that come before the events are applied first.
 *
 * @returns false when the block is gone from the chain: write nothing more for it
 */
export function logEvents(
  db: Context["db"],
  events: readonly DeriveEvent[],
  block: HandlersBlock,
): Promise<boolean> {
  return unlessOrphaned(async () => {
    const [first, ...others] = events;
    if (first === undefined) return;
    const read = await readPast(db, [first, ...others], block);
    await applyEvents(db, events, block.hash, read);
  });
}

/** Logs one event of a block and applies it. */
export function logEvent(db: Context["db"], event: DeriveEvent, block: HandlersBlock): Promise<boolean> {
  return logEvents(db, [event], block);
}

/**
 * Applies the transfers that matter in a block and in earlier blocks. Call it for a block that may have no
 * other event.
 */
export function bringTransfersIn(
  db: Context["db"],
  block: HandlersBlock & { timestamp: bigint },
): Promise<boolean> {
  const end: TickEvent = { block: Number(block.number), time: Number(block.timestamp), kind: "tick" };
  return unlessOrphaned(async () => void (await readPast(db, [end], block)));
}

/** Begins the log with its first line. */
export async function logParams(db: Context["db"], event: ParamsEvent): Promise<void> {
  await applyEvents(db, [event], "", null);
}

/** Does work for a block. Returns false when the block is gone from the chain. */
export async function unlessOrphaned(work: () => Promise<void>): Promise<boolean> {
  try {
    await work();
    return true;
  } catch (error) {
    if (error instanceof OrphanedError) return false;
    throw error;
  }
}

/** Applies the transfers that matter up to events of one position; null when the log has all transfers. */
async function readPast(
  db: Context["db"],
  events: readonly [DeriveEvent, ...DeriveEvent[]],
  { number, hash }: HandlersBlock,
): Promise<ReadPast | null> {
  if (transfers === null) return null;
  const block = { block: Number(number), hash };
  return transfers.bringIn(db, block, events, {
    rows: () => projector.rowsBefore(ponderRows(db), events[0], hash),
    forgotten: () => projector.forgotten,
    apply: async (some, read) => (await applyEvents(db, some, hash, read, watchesMore)).each.length,
  });
}

/** Whether these changes add watched wallets. Then the transfers to more wallets belong to the log. */
function watchesMore(changes: readonly RowChange[]): boolean {
  return changes.some(({ table, after }) => table === "list" && after.id === WATCHED);
}

/** Applies events, and writes their effects to the timeline and to the summaries. */
async function applyEvents(
  db: Context["db"],
  events: readonly DeriveEvent[],
  block: string,
  read: ReadPast | null,
  isLast?: (changes: readonly RowChange[]) => boolean,
): Promise<Applied> {
  const options = { recover, sha256Hex: sha256HexByNode };
  const applied = await projector.apply(ponderRows(db), events, block, options, read, isLast);
  const { lines, together, each } = applied;
  if (lines.length === 0) return applied;
  await countLines(db, lines);
  const moments = events.flatMap((event, index) =>
    momentsOf(each[index] ?? []).map((moment, n) => ({
      position: timelineKey(positionKey(event), n + 1),
      // The hash of the handler's block. The events are of this block, or of a block below it.
      blockHash: block,
      ...moment,
    })),
  );
  if (moments.length > 0) await db.insert(timeline).values(moments);
  await saveSummaries(db, together);
  return applied;
}
