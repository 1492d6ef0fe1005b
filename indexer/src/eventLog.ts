import type { Context } from "ponder:registry";
import type { DeriveEvent } from "tallystick-derive/events";
import { recoverByWasm } from "tallystick-protocol/signatures/recoverByWasm";
import { remembered } from "tallystick-protocol/signatures/remembered";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";
import { timeline } from "../ponder.schema.ts";
import { talliesOf } from "./insights.ts";
import { countLines } from "./logLines.ts";
import { ponderRows } from "./ponderRows.ts";
import { positionKey } from "./positionKey.ts";
import { Derivation } from "./rows/derivation.ts";
import { saveTallies } from "./saveTallies.ts";
import { momentsOf, timelineKey } from "./timeline.ts";

/** A record's signer is asked for when it is loaded, for contracts, and again when it is applied. */
export const recover = remembered(await recoverByWasm());

const derivation = new Derivation();

/**
 * Logs events and applies them: the one way by which anything reaches the derivation. What they bring about is noted on the
 * timeline and in the summaries.
 *
 * @param block the hash of the block that the events are of; "" for the parameters, which are of none
 */
export async function logEvents(
  db: Context["db"],
  events: readonly DeriveEvent[],
  block: string,
): Promise<void> {
  const options = { recover, sha256Hex: sha256HexByNode };
  if (events.length === 0) return;
  const { together, each } = await derivation.apply(ponderRows(db), events, block, options);
  await countLines(db, events);
  const moments = events.flatMap((event, index) =>
    momentsOf(each[index] ?? []).map((moment, n) => ({
      position: timelineKey(positionKey(event), n + 1),
      ...moment,
    })),
  );
  if (moments.length > 0) await db.insert(timeline).values(moments);
  await saveTallies(db, talliesOf(together));
}

/** The same for one event. */
export function logEvent(db: Context["db"], event: DeriveEvent, block: string): Promise<void> {
  return logEvents(db, [event], block);
}
