import { isTable } from "drizzle-orm";
import { getTableConfig, type PgTable } from "drizzle-orm/pg-core";
import pg from "pg";
import * as schema from "../../../indexer/ponder.schema.ts";

/**
 * For every index except primary keys, the name of its table: `wanted` from the schema, `made` from a
 * database. Both lists are sorted.
 */
export async function indexedTables(databaseUrl: string, databaseSchema: string) {
  const tables = Object.values(schema).filter((it) => isTable(it)) as PgTable[];
  const wanted = tables.map(getTableConfig).flatMap(({ name, indexes }) => indexes.map(() => name));
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query(
      "SELECT tablename AS name FROM pg_indexes WHERE schemaname = $1 AND indexname NOT LIKE '%_pkey' AND tablename = ANY ($2)",
      [databaseSchema, wanted],
    );
    return { wanted: wanted.sort(), made: rows.map(({ name }) => name).sort() };
  } finally {
    await client.end();
  }
}
