import pg from "pg";
import { SCHEMA_BEHIND_VIEWS } from "../../indexer/schemaBehindViews.ts";
import type { UpgradeSession } from "./openUpgradeSession.ts";

type Query = UpgradeSession["query"];

/** The state of an indexer, read from its schema. */
export type IndexerState = {
  /** Ponder's hash of everything that decides the rows. */
  build: string;
  /** Whether the indexer has read the whole history. */
  isReady: boolean;
  /** Whether an indexer holds the schema. After a crash this stays true until the heartbeat is old. */
  isLocked: boolean;
  /** Unix milliseconds by the clock of the indexer's machine. */
  heartbeatAt: number;
  /** The last block that it has read. */
  block: number;
  /** The block of the last tick. Answers have the state of this block. */
  tick: number;
};

/** After this many milliseconds without a heartbeat Ponder treats a schema as abandoned. */
export const HEARTBEAT_MS = 25_000;

/** Whether an indexer seems to write to the schema now. `now`: unix milliseconds. */
export function isHeld({ isLocked, heartbeatAt }: IndexerState, now: number): boolean {
  return isLocked && heartbeatAt + HEARTBEAT_MS > now;
}

/**
 * The state of the indexer that writes to a schema.
 *
 * @returns undefined when no indexer has made its tables there yet
 */
export async function readIndexer(query: Query, schema: string): Promise<IndexerState | undefined> {
  const name = pg.escapeIdentifier(schema);
  const { rows: there } = await query(
    "SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL AS ok",
    [`${name}._ponder_meta`, `${name}.state`],
  );
  if (!there[0]?.ok) return undefined;
  // One statement, so that block and tick belong together.
  const { rows } = await query(
    `SELECT value, (SELECT max(latest_checkpoint) FROM ${name}._ponder_checkpoint) AS checkpoint,
       (SELECT block FROM ${name}.state LIMIT 1) AS tick FROM ${name}._ponder_meta LIMIT 1`,
  );
  const [row] = rows;
  if (row === undefined) return undefined;
  const { value, checkpoint, tick } = row;
  return {
    build: String(value.build_id),
    isReady: value.is_ready === 1,
    isLocked: value.is_locked === 1,
    heartbeatAt: Number(value.heartbeat_at),
    // Ten digits of time, sixteen of chain id, sixteen of block number, and more.
    block: Number((checkpoint ?? "").slice(26, 42)),
    tick: Number(tick ?? 0),
  };
}

/** The schema whose tables the views read now; undefined when there are no views on an indexer. */
export async function liveSchema(query: Query, views: string): Promise<string | undefined> {
  const { rows } = await query(`SELECT ${SCHEMA_BEHIND_VIEWS} AS live`, [views]);
  return rows[0]?.live ?? undefined;
}

/** The other schemas with views that read tables of this schema. */
export async function viewsOn(query: Query, schema: string): Promise<string[]> {
  const { rows } = await query(
    `SELECT DISTINCT reader.nspname::text AS schema FROM pg_class AS source
       JOIN pg_depend ON refobjid = source.oid AND classid = 'pg_rewrite'::regclass AND refclassid = 'pg_class'::regclass
       JOIN pg_rewrite AS rule ON rule.oid = objid
       JOIN pg_class AS seen ON seen.oid = rule.ev_class AND seen.relnamespace <> source.relnamespace
       JOIN pg_namespace AS reader ON reader.oid = seen.relnamespace
     WHERE source.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) ORDER BY 1`,
    [schema],
  );
  return rows.map((row) => row.schema);
}

/** What is in a schema, without indexes, sequences and types; undefined when there is no such schema. */
export async function contentOf(
  query: Query,
  schema: string,
): Promise<{ tables: string[]; views: string[]; isOurs: boolean } | undefined> {
  const { rows } = await query(
    `SELECT pg_has_role(nspowner, 'USAGE') AS ours,
       ARRAY(SELECT relname::text FROM pg_class WHERE relnamespace = s.oid AND relkind NOT IN ('v', 'i', 'I', 'c', 'S', 't')) AS tables,
       ARRAY(SELECT relname::text FROM pg_class WHERE relnamespace = s.oid AND relkind = 'v') AS views
     FROM pg_namespace AS s WHERE nspname = $1`,
    [schema],
  );
  return rows[0] && { tables: rows[0].tables, views: rows[0].views, isOurs: rows[0].ours };
}

/** The newest tick that two indexers share, and the digest of each there; undefined when they share none. */
export async function commonDigest(
  query: Query,
  oldSchema: string,
  newSchema: string,
): Promise<{ block: number; old: string; new: string } | undefined> {
  const [before, after] = [oldSchema, newSchema].map(pg.escapeIdentifier);
  const { rows: there } = await query(
    "SELECT to_regclass($1) IS NOT NULL AND to_regclass($2) IS NOT NULL AS ok",
    [`${before}.digest`, `${after}.digest`],
  );
  if (!there[0]?.ok) return undefined;
  const { rows } = await query(
    `SELECT a.block::int8 AS block, a.digest AS old, b.digest AS new FROM ${before}.digest AS a
       JOIN ${after}.digest AS b USING (id) ORDER BY id DESC LIMIT 1`,
  );
  return rows[0] && { block: Number(rows[0].block), old: rows[0].old, new: rows[0].new };
}
