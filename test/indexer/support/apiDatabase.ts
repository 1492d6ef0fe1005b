import { getTableColumns, isTable } from "drizzle-orm";
import { drizzle } from "drizzle-orm/node-postgres";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import pg from "pg";
import * as schema from "../../../indexer/ponder.schema.ts";
import type { Database } from "../../../indexer/src/api/graphql/context.ts";

/**
 * The indexer's tables in an empty database, made from its schema as Ponder would, for tests of the API that bring their own
 * rows. `statements` counts the queries sent since it was last set.
 */
export async function openApiDatabase(url: string) {
  const pool = new pg.Pool({ connectionString: url, max: 5 });
  for (const table of Object.values(schema).filter((it) => isTable(it)) as PgTable[]) {
    const columns = Object.values(getTableColumns(table)).map(
      (column) => `"${column.name}" ${column.getSQLType()}${column.primary ? " PRIMARY KEY" : ""}`,
    );
    await pool.query(`CREATE TABLE "${getTableConfig(table).name}" (${columns.join(", ")})`);
  }
  await pool.query("CREATE TABLE _ponder_checkpoint (latest_checkpoint text)");
  let statements = 0;
  const database = drizzle(pool, { schema, casing: "snake_case", logger: { logQuery: () => statements++ } });
  return {
    database,
    /** As the API sees it. */
    db: database as unknown as Database,
    pool,
    get statements() {
      return statements;
    },
    set statements(count: number) {
      statements = count;
    },
    close: () => pool.end(),
  };
}
