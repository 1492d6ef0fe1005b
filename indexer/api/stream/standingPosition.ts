import type { Database } from "../database.ts";
import { finalBlockAt } from "../rows/checkpoint.ts";
import { lastMomentUpTo, momentAt } from "../rows/timeline.ts";
import { BEGINNING, blockOf, placeOf, positionOf } from "./position.ts";

/**
 * The position from which a client can continue after it received everything up to `position`. If the block that
 * `position` names still stands, this is `position` itself. Otherwise a reorganization may have replaced events that
 * the client has, also events in blocks that are final now. Then this is the position of the last event that was surely
 * final when the client got `position`. A position without a hash proves nothing, so it is treated in the same way.
 */
export async function standingPosition(db: Database, position: string): Promise<string> {
  if (position === BEGINNING) return BEGINNING;
  const moment = await momentAt(db, placeOf(position));
  if (moment !== undefined && positionOf(moment) === position) return position;
  return lastPositionUpTo(db, await finalBlockAt(db, blockOf(position)));
}

/** The position of the last event in the blocks up to this one. */
export async function lastPositionUpTo(db: Database, block: number): Promise<string> {
  const moment = await lastMomentUpTo(db, block);
  return moment === undefined ? BEGINNING : positionOf(moment);
}
