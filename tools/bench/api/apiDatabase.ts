import { getTableColumns, is, isTable, SQL } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import { drizzle } from "drizzle-orm/node-postgres";
import { getTableConfig, PgDialect, type PgTable } from "drizzle-orm/pg-core";
import pg from "pg";
import type { MemoryStore } from "tallystick-derive/memoryStore";
import { type TableName, tables } from "tallystick-derive/tables";
import { inItsTurn } from "tallystick-runtime/http/turns";
import type { Database } from "../../../indexer/api/database.ts";
import * as schema from "../../../indexer/ponder.schema.ts";
import { PLANNER_SETTINGS } from "../../../indexer/readDatabase.ts";

/**
 * Creates the indexer's tables in an empty database from the indexer's schema, as Ponder does. Tests of the API fill
 * them with their own rows. `statements` is the number of queries since it was last set, and `sent` lists these queries.
 */
export async function openApiDatabase(url: string, { indexes = false } = {}) {
  // The settings are those of the API's own connections.
  const onConnect = async (client: pg.ClientBase) => void (await client.query(PLANNER_SETTINGS));
  const pool = new pg.Pool({ connectionString: url, max: 5, onConnect });
  // Postgres stops right after the pool. A connection that notices this before it is closed must not fail the test.
  pool.on("error", () => {});
  const query = pool.query.bind(pool) as (...given: unknown[]) => Promise<never>;
  pool.query = (...given: unknown[]) => inItsTurn(() => query(...given));
  const pgTables = Object.values(schema).filter((it) => isTable(it)) as PgTable[];
  const createTables = pgTables.map((table) => {
    const columns = Object.values(getTableColumns(table)).map(
      (column) => `"${column.name}" ${column.getSQLType()}${column.primary ? " PRIMARY KEY" : ""}`,
    );
    return `CREATE TABLE "${getTableConfig(table).name}" (${columns.join(", ")})`;
  });
  createTables.push("CREATE TABLE _ponder_checkpoint (latest_checkpoint text, finalized_checkpoint text)");
  await pool.query(createTables.join(";\n"));
  const createIndexes = async () => void (await pool.query(pgTables.flatMap(indexesOf).join(";\n")));
  if (indexes) await createIndexes();
  let statements = 0;
  const sent: { query: string; params: unknown[] }[] = [];
  const logQuery = (query: string, params: unknown[]) => {
    statements++;
    sent.push({ query, params });
  };
  const database = drizzle(pool, { schema, casing: "snake_case", logger: { logQuery } });
  return {
    database,
    /** Inserts every row of a derivation in memory. */
    fill: async (store: MemoryStore) => {
      for (const name of Object.keys(tables) as TableName[]) {
        const rows = [...store.rows(name).values()];
        for (let at = 0; at < rows.length; at += 500) {
          // biome-ignore lint/performance/noDynamicNamespaceImportAccess: the table is chosen by name here
          await database.insert(schema[name]).values(rows.slice(at, at + 500) as never);
        }
      }
    },
    /** For callers that fill the tables first, as Ponder does. */
    createIndexes,
    /** The database as the API uses it. */
    db: database as unknown as Database,
    pool,
    sent,
    get statements() {
      return statements;
    },
    set statements(count: number) {
      statements = count;
      sent.length = 0;
    },
    close: () => pool.end(),
  };
}

/** The indexes of a table, as Ponder makes them after the backfill. */
function indexesOf(table: PgTable): string[] {
  const { name, indexes } = getTableConfig(table);
  const dialect = new PgDialect({ casing: "snake_case" });
  return indexes.map(({ config }, n) => {
    const columns = config.columns.map((column) =>
      is(column, SQL)
        ? dialect.sqlToQuery(column, "indexes").sql
        : `"${toSnakeCase((column as { name: string }).name)}"`,
    );
    return `CREATE INDEX "${config.name ?? `${name}_${n}`}" ON "${name}" (${columns.join(", ")})`;
  });
}
