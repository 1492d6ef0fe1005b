import { sql } from "ponder";

/**
 * The last block that no reorganization takes back, as Ponder counts it: of the rows of `_ponder_checkpoint`. Everything up to it
 * that is there stays; while the history is read, more of that very block may come, always behind.
 */
export const FINAL_BLOCK = sql`least(substr(finalized_checkpoint, 27, 16)::bigint, 999999999998)`;

/** Before it, as the log is sorted, stands what is final: the beginning of the block after. */
export const FINAL_END = sql`lpad((${FINAL_BLOCK} + 1)::text, 12, '0') || '/00000000/0000000000000000'`;
