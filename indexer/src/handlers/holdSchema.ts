import type { Context } from "ponder:registry";
import { sql } from "ponder";
import { ponderSchema } from "../../ponderProcess.ts";

/**
 * Takes the lock of the schema to which this process writes. Ponder takes it at every start but one: where an indexer has
 * ended before its first checkpoint, the next one finds tables and no checkpoint, continues, and leaves the lock as it was,
 * which is open. Then a second indexer could write to the same tables, and a check for that would say no.
 */
export async function holdSchema(db: Context["db"]): Promise<void> {
  const schema = ponderSchema();
  if (schema === undefined) return;
  await db.sql.execute(
    sql`UPDATE ${sql.identifier(schema)}._ponder_meta
      SET value = value || jsonb_build_object('is_locked', 1, 'heartbeat_at', ${Date.now()}::int8)`,
  );
}
