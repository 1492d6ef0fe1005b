import { sql } from "ponder";
import type { Database } from "../database.ts";

/** The code of Postgres for a table that does not exist. */
const UNDEFINED_TABLE = "42P01";

/** The stored bytes of a row of a ledger's lines; undefined if there are none. */
export async function keptRow(db: Database, ledger: string, part: number): Promise<Buffer | undefined> {
  try {
    const { rows } = await db.execute<{ lines: Buffer }>(
      sql`SELECT lines FROM ops.ledger_lines WHERE ledger = ${ledger} AND part = ${part}`,
    );
    return rows[0]?.lines;
  } catch (error) {
    // An indexer makes the table when it stores its first lines.
    if ((error as { code?: unknown }).code === UNDEFINED_TABLE) return undefined;
    throw error;
  }
}
