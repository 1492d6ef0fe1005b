import type { Context } from "ponder:registry";
import { sql } from "ponder";

/**
 * Lets Ponder write the changed rows of a handler into its open transaction, and forget all rows that it keeps in memory. Ponder
 * does so before each statement of a handler that it cannot tell from a change.
 */
export async function freeRows(db: Context["db"]): Promise<void> {
  await db.sql.execute(sql.raw(FREEING));
}

/** Changes nothing. For Ponder it is not one of the statements that only read rows. */
export const FREEING = "SHOW server_version";
