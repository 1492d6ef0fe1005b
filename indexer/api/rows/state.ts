import { eq } from "ponder";
import { STATE_ID } from "tallystick-derive/stateId";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { rowsById } from "./rowsById.ts";

/**
 * The whole state of the derivation, with its parameters (some kilobytes of text); undefined before the first
 * event.
 */
export async function wholeState(db: Database): Promise<Row<"state"> | undefined> {
  const [row] = await rowsById(db, "state", [STATE_ID]);
  return row;
}

/** The state of the derivation at its last tick; undefined before the first event. */
export async function stateRow(
  db: Database,
): Promise<Pick<Row<"state">, "block" | "time" | "digest"> | undefined> {
  const { state } = schema;
  const [row] = await db
    .select({ block: state.block, time: state.time, digest: state.digest })
    .from(state)
    .where(eq(state.id, STATE_ID));
  return row;
}

/** The block and time of the last tick; zeros before the first. */
export async function lastTick(db: Database): Promise<{ block: number; time: number }> {
  const { block, time } = (await stateRow(db)) ?? { block: 0, time: 0 };
  return { block, time };
}
