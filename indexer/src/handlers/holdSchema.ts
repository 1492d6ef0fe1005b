import type { Context } from "ponder:registry";
import { sql } from "ponder";
import { ponderSchema } from "../../ponderProcess.ts";

/**
 * Takes the lock of the schema to which this process writes. Ponder takes it itself, with one exception. If an
 * indexer ended before its first checkpoint, the next indexer finds tables without a checkpoint. It continues with
 * them, and does not take the lock. Then a second indexer could write to the same tables.
 */
export async function holdSchema(db: Context["db"]): Promise<void> {
  const schema = ponderSchema();
  if (schema === undefined) return;
  await db.sql.execute(
    sql`UPDATE ${sql.identifier(schema)}._ponder_meta
      SET value = value || jsonb_build_object('is_locked', 1, 'heartbeat_at', ${Date.now()}::int8)`,
  );
}
