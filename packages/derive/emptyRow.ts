import type { ColumnKind } from "./columnKind.ts";
import { type Row, type TableName, tables } from "./tables.ts";

/**
 * All columns of a table except texts. The kind of a column decides its first value, but texts have no common first
 * value.
 */
type Empty<T extends TableName> = {
  [C in keyof Row<T> as (typeof tables)[T][C & keyof (typeof tables)[T]] extends "text"
    ? never
    : C]: Row<T>[C];
};

const STARTS = { number: 0, bigint: 0n, boolean: false };

/** A row to which nothing has happened: numbers are zero, flags are false, and nullable columns are null. */
export function emptyRow<T extends TableName>(table: T): Empty<T> {
  const columns = Object.entries(tables[table]) as [string, ColumnKind][];
  return Object.fromEntries(
    columns.flatMap(([name, kind]) => {
      if (kind === "text") return [];
      return [[name, kind.endsWith("?") ? null : STARTS[kind as keyof typeof STARTS]]];
    }),
  ) as Empty<T>;
}
