import type { Context } from "ponder:registry";
import { sql } from "ponder";

/**
 * Lets Ponder write the changed rows of a handler into its open transaction, and forget all rows that it keeps in memory. Ponder
 * does so before each statement of a handler that it cannot tell from a change. From then on Ponder asks the database for each
 * row until it has read the whole history. So this is called only if the memory would not be enough.
 */
export async function freeRows(db: Context["db"]): Promise<void> {
  await db.sql.execute(sql.raw(FREEING));
}

/** Changes nothing. For Ponder it is not one of the statements that only read rows. */
export const FREEING = "SHOW server_version";
