import type { Context } from "ponder:registry";
import { recoverByWasm } from "../../protocol/signatures/recoverByWasm.ts";
import { remembered } from "../../protocol/signatures/remembered.ts";
import { eventLog, timeline } from "../ponder.schema.ts";
import { apply } from "./derive/apply.ts";
import type { DeriveEvent } from "./derive/events.ts";
import { ponderStore } from "./ponderStore.ts";
import { type Moment, observed, timelineKey } from "./timeline.ts";

/** A record's signer is asked for when it is loaded, for contracts, and again when it is applied. */
export const recover = remembered(await recoverByWasm());

/** Behind every log of a block. */
const LAST_SLOT = 99_999_999;

/**
 * Where an event stands in the log, as text that sorts like (block, log, seq): the parameters come before the first log of
 * their block, a tick after the last. Fixed width, so that every collation agrees.
 */
export function positionKey(event: DeriveEvent): string {
  const slot = event.kind === "tick" ? LAST_SLOT : event.kind === "params" ? 0 : event.log + 1;
  const seq = event.kind === "record" ? event.seq : 0;
  return [digits(event.block, 12), digits(slot, 8), digits(seq, 16)].join("/");
}

function digits(value: number, width: number): string {
  return String(value).padStart(width, "0");
}

/**
 * Appends an event to the log and applies it: the one way by which anything reaches the derivation. What it brings about is
 * noted on the timeline.
 */
export async function logEvent(db: Context["db"], event: DeriveEvent): Promise<void> {
  const position = positionKey(event);
  await db.insert(eventLog).values({ position, json: JSON.stringify(event) });
  const moments: Moment[] = [];
  await apply(
    observed(ponderStore(db), (moment) => moments.push(moment)),
    event,
    { recover },
  );
  for (const [n, moment] of moments.entries()) {
    await db.insert(timeline).values({ position: timelineKey(position, n + 1), ...moment });
  }
}
