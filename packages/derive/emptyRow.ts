import type { ColumnKind } from "./columnKind.ts";
import { type Row, type TableName, tables } from "./tables.ts";

/** The columns of a table for which its kind says how they begin: all but texts, whose beginning is one of their own. */
type Empty<T extends TableName> = {
  [C in keyof Row<T> as (typeof tables)[T][C & keyof (typeof tables)[T]] extends "text"
    ? never
    : C]: Row<T>[C];
};

const STARTS = { number: 0, bigint: 0n, boolean: false };

/** A row with which nothing has happened: numbers at zero, flags down, and null where there may be nothing. */
export function emptyRow<T extends TableName>(table: T): Empty<T> {
  const columns = Object.entries(tables[table]) as [string, ColumnKind][];
  return Object.fromEntries(
    columns.flatMap(([name, kind]) => {
      if (kind === "text") return [];
      return [[name, kind.endsWith("?") ? null : STARTS[kind as keyof typeof STARTS]]];
    }),
  ) as Empty<T>;
}
