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

/** The last final block: no reorganization can remove it. It is 0 before the first. */
export async function finalBlock(db: Database): Promise<number> {
  return (await finality(db)).final;
}

/**
 * A block that was already final when the block of this number was indexed. After each block that Ponder indexes, at
 * most twice the blocks that its chain needs for finality are not final yet.
 */
export async function finalBlockAt(db: Database, indexed: number): Promise<number> {
  const { chainId, final } = await finality(db);
  return Math.min(final, indexed - 2 * finalityBlocks(chainId));
}

async function finality(db: Database): Promise<{ chainId: number; final: number }> {
  const { rows } = await db.execute<{ checkpoint: string | null; final: string | null }>(
    sql`SELECT finalized_checkpoint AS checkpoint, ${FINAL_BLOCK} AS final FROM _ponder_checkpoint LIMIT 1`,
  );
  const { checkpoint, final } = rows[0] ?? {};
  return { chainId: Number(checkpoint?.slice(10, 26) ?? 0), final: Number(final ?? 0) };
}

/**
 * For some chains: the number of blocks after which a block is final for Ponder. For all other chains the number is 30.
 */
const FINALITY_BLOCKS = new Map([
  [65, [1, 3, 4, 5, 42, 11_155_111]],
  [200, [137, 80_001]],
  [240, [42_161, 42_170, 421_611, 421_613]],
]);

/** The number of blocks after which a block of this chain is final for Ponder. */
export function finalityBlocks(chainId: number): number {
  for (const [blocks, chains] of FINALITY_BLOCKS) if (chains.includes(chainId)) return blocks;
  return 30;
}

/**
 * The last final block by Ponder's count, a column of `_ponder_checkpoint`. No reorganization removes rows up
 * to it. While Ponder reads the history, more events of that block may still be added, always after the
 * existing events.
 */
export const FINAL_BLOCK = sql`least(substr(finalized_checkpoint, 27, 16)::bigint, 999999999998)`;

/**
 * The last final block of which every event is applied. While Ponder reads the history, it may name the last block as
 * final before it has applied this block. It has applied all final blocks as soon as a later block is indexed.
 */
export async function finishedBlock(db: Database): Promise<number> {
  const { rows } = await db.execute<{ block: string | null }>(
    sql`SELECT CASE WHEN latest_checkpoint > finalized_checkpoint THEN ${FINAL_BLOCK} ELSE ${FINAL_BLOCK} - 1 END AS block
      FROM _ponder_checkpoint LIMIT 1`,
  );
  return Math.max(0, Number(rows[0]?.block ?? 0));
}

/** The position at which the next block begins. Everything before it in the log's order is final. */
export const FINAL_END = sql`lpad((${FINAL_BLOCK} + 1)::text, 12, '0') || '/00000000/0000000000000000'`;
