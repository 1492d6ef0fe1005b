import type { Context } from "ponder:registry";
import { sql } from "ponder";

/**
 * Lets Ponder write the changed rows of a handler into its open transaction, and forget all rows that it keeps in memory. Ponder
 * does so before each statement of a handler that it cannot tell from a change. From then on Ponder asks the database for each
 * row until it has read the whole history. So this is called only if the memory would not be enough. Ponder has no other way to
 * forget rows before a transaction ends. And it answers for missing rows from memory only as long as it has forgotten none.
 */
export async function freeRows(db: Context["db"]): Promise<void> {
  await db.sql.execute(sql.raw(FREEING));
}

/** Changes nothing. For Ponder it is not one of the statements that only read rows. */
export const FREEING = "SHOW server_version";

/** The name of the transaction in which Ponder's handlers write: when it began. */
export async function transactionName(db: Context["db"]): Promise<string> {
  const [row] = (await db.sql.execute(sql.raw(NAMING))) as unknown as { began: string }[];
  return (row as { began: string }).began;
}

/** Reads only, and no table. So Ponder writes no rows before it. */
export const NAMING = "SELECT now()::text AS began";
