import type { UpgradeSession } from "./openUpgradeSession.ts";

/**
 * The number of processes that answer from a schema or from views. Each of them has one connection of this
 * name, by which it watches the database.
 *
 * @param schema the schema of views or tables. An indexer counts as a reader of its own schema
 */
export async function readersOf(query: UpgradeSession["query"], schema: string): Promise<number> {
  const { rows } = await query(
    "SELECT count(*)::int AS readers FROM pg_stat_activity WHERE datname = current_database() AND application_name = $1",
    [`${schema}_watch`],
  );
  return Number(rows[0]?.readers);
}

/** The schemas that indexers have made in this database. */
export async function indexerSchemas(query: UpgradeSession["query"]): Promise<string[]> {
  const { rows } = await query(
    `SELECT nspname::text AS schema FROM pg_class JOIN pg_namespace AS n ON n.oid = relnamespace
     WHERE relname = '_ponder_meta' AND relkind = 'r' ORDER BY 1`,
  );
  return rows.map((row) => row.schema);
}
