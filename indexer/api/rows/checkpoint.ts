import { sql } from "ponder";
import type { Database } from "../database.ts";

/** Ponder's own checkpoint: ten digits of time, sixteen of chain id, sixteen of block number, and more; `0` before the first. */
export async function latestCheckpoint(db: Database): Promise<string> {
  const { rows } = await db.execute<{ checkpoint: string }>(
    sql`SELECT latest_checkpoint AS checkpoint FROM _ponder_checkpoint LIMIT 1`,
  );
  return rows[0]?.checkpoint ?? "0";
}

/**
 * A name for the present state: the checkpoint, and the last event and payment. A reorganization may replace a block
 * by another block of the same number and time. Both have the same checkpoint.
 */
export async function stateName(db: Database): Promise<string> {
  const { rows } = await db.execute<{ name: string }>(sql`
    SELECT concat_ws('-', latest_checkpoint,
      (SELECT left(md5(position || json), 12) FROM event_log ORDER BY position DESC LIMIT 1),
      (SELECT left(md5(id), 12) FROM payment ORDER BY block DESC, log DESC LIMIT 1)) AS name
    FROM _ponder_checkpoint LIMIT 1`);
  return rows[0]?.name ?? "0";
}

/** The last block that was indexed; 0 before the first. */
export async function indexedBlock(db: Database): Promise<number> {
  return Number((await latestCheckpoint(db)).slice(26, 42));
}

/**
 * The last final block by Ponder's count, a column of `_ponder_checkpoint`. No reorganization removes rows up
 * to it. While Ponder reads the history, more events of that block may still be added, always after the
 * existing events.
 */
export const FINAL_BLOCK = sql`least(substr(finalized_checkpoint, 27, 16)::bigint, 999999999998)`;

/** The position at which the next block begins. Everything before it in the log's order is final. */
export const FINAL_END = sql`lpad((${FINAL_BLOCK} + 1)::text, 12, '0') || '/00000000/0000000000000000'`;
