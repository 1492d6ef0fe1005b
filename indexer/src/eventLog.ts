import type { Context } from "ponder:registry";
import { recoverByWasm } from "../../protocol/signatures/recoverByWasm.ts";
import { remembered } from "../../protocol/signatures/remembered.ts";
import { eventLog, timeline } from "../ponder.schema.ts";
import { apply } from "./derive/apply.ts";
import type { DeriveEvent } from "./derive/events.ts";
import { Tallies } from "./insights.ts";
import { ponderStore } from "./ponderStore.ts";
import { positionKey } from "./positionKey.ts";
import { saveTallies } from "./saveTallies.ts";
import { type Moment, observed, timelineKey } from "./timeline.ts";

/** A record's signer is asked for when it is loaded, for contracts, and again when it is applied. */
export const recover = remembered(await recoverByWasm());

/**
 * Appends an event to the log and applies it: the one way by which anything reaches the derivation. What it brings about is
 * noted on the timeline and in the summaries.
 */
export async function logEvent(db: Context["db"], event: DeriveEvent): Promise<void> {
  const position = positionKey(event);
  await db.insert(eventLog).values({ position, json: JSON.stringify(event) });
  const moments: Moment[] = [];
  const tallies = new Tallies();
  const store = observed(tallies.watch(ponderStore(db)), (moment) => moments.push(moment));
  await apply(store, event, { recover });
  for (const [n, moment] of moments.entries()) {
    await db.insert(timeline).values({ position: timelineKey(position, n + 1), ...moment });
  }
  await saveTallies(db, tallies.changes());
}
