import { sql } from "ponder";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { byKey } from "./byKey.ts";

/** The events at positions of the log, as JSON text. Transfers that are payments are not among them. */
export async function eventsAt(db: Database, positions: readonly string[]): Promise<(string | null)[]> {
  const { eventLog } = schema;
  const found = await byKey(
    positions,
    (list) =>
      db
        .select()
        .from(eventLog)
        .where(sql`${eventLog.position} = ANY (${sql.param(list)}::text[])`),
    (row) => row.position,
  );
  return found.map((row) => row?.json ?? null);
}
