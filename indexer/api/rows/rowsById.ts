import { getTableColumns } from "drizzle-orm";
import { toSnakeCase } from "drizzle-orm/casing";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { sql } from "ponder";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";

type Tables = typeof schema;

/** The tables whose rows have a key `id`. */
export type KeyedTable = {
  [Name in keyof Tables]: Tables[Name] extends { id: PgColumn } ? Name : never;
}[keyof Tables];

/** A row of a table, as it is stored. */
export type RowOf<Name extends keyof Tables> = Tables[Name]["$inferSelect"];

type Raw = Record<string, unknown>;

/** A row as the database returned it. A column is decoded when it is read. */
class StoredRow {
  readonly #raw: Raw;

  constructor(raw: Raw) {
    this.#raw = raw;
  }

  /** The class of a table's rows, with a getter for each column. */
  static of(table: PgTable): typeof StoredRow {
    const Reader = class extends StoredRow {};
    for (const [name, column] of Object.entries(getTableColumns(table))) {
      const key = toSnakeCase(name);
      const isAsGiven = column.dataType === "string" || column.dataType === "boolean";
      Object.defineProperty(Reader.prototype, name, {
        get(this: StoredRow) {
          const value = this.#raw[key];
          if (value === undefined) throw new Error(`The statement did not read the column ${key}.`);
          return value === null || isAsGiven ? value : column.mapFromDriverValue(value);
        },
      });
    }
    return Reader;
  }
}

/** One reader for each table, made once and kept. */
const readers = new WeakMap<PgTable, typeof StoredRow>();

/**
 * A row with the values that drizzle would return. It has getters and not properties, because most columns are
 * never read. So `{ ...row }` copies nothing, and a column that was not selected throws.
 */
export function decodeRow<T extends PgTable>(table: T, raw: Raw): T["$inferSelect"] {
  let Reader = readers.get(table);
  if (Reader === undefined) {
    Reader = StoredRow.of(table);
    readers.set(table, Reader);
  }
  return new Reader(raw) as object as T["$inferSelect"];
}

/**
 * The rows of a table with these ids, in any order. An unknown id has no row. The statement selects all columns,
 * because making a statement for chosen columns would take longer than the query.
 */
export async function rowsById<Name extends KeyedTable>(
  db: Database,
  name: Name,
  ids: readonly string[],
): Promise<RowOf<Name>[]> {
  if (ids.length === 0) return [];
  // biome-ignore lint/performance/noDynamicNamespaceImportAccess: the table is chosen by name here
  const table: PgTable & { id: PgColumn } = schema[name];
  const { rows } = await db.execute(
    sql`SELECT * FROM ${table} WHERE ${table.id} = ANY (${sql.param([...ids])}::text[])`,
  );
  return rows.map((raw) => decodeRow(table, raw as Raw) as RowOf<Name>);
}
