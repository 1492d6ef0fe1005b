import { toSnakeCase } from "drizzle-orm/casing";
import {
  type BuildExtraConfigColumns,
  onchainTable,
  type PgColumnsBuilders,
  type PgTableExtraConfig,
} from "ponder";
import type { ColumnKind } from "tallystick-derive/columnKind";
import { type TableName, tables } from "tallystick-derive/tables";

/** How each kind of column of the derivation is stored. `int8` in number mode holds every safe integer. */
const builders = {
  text: (p: PgColumnsBuilders) => p.text().notNull(),
  "text?": (p: PgColumnsBuilders) => p.text(),
  number: (p: PgColumnsBuilders) => p.int8({ mode: "number" }).notNull(),
  "number?": (p: PgColumnsBuilders) => p.int8({ mode: "number" }),
  bigint: (p: PgColumnsBuilders) => p.bigint().notNull(),
  "bigint?": (p: PgColumnsBuilders) => p.bigint(),
  boolean: (p: PgColumnsBuilders) => p.boolean().notNull(),
  "boolean?": (p: PgColumnsBuilders) => p.boolean(),
} satisfies Record<ColumnKind, (p: PgColumnsBuilders) => unknown>;

const primary = (p: PgColumnsBuilders) => p.text().primaryKey();

type Columns<T extends TableName> = {
  [C in keyof (typeof tables)[T]]: C extends "id"
    ? ReturnType<typeof primary>
    : (typeof tables)[T][C] extends ColumnKind
      ? ReturnType<(typeof builders)[(typeof tables)[T][C]]>
      : never;
};

/**
 * The database table for the derivation's rows called `name`. Its columns are those of `packages/derive/tables.ts`, so the
 * two cannot differ. `indexes` serve the API; the derivation itself reads by primary key only.
 */
export function deriveTable<T extends TableName>(
  name: T,
  indexes?: (table: BuildExtraConfigColumns<Columns<T>>) => PgTableExtraConfig,
) {
  const columns = (p: PgColumnsBuilders) =>
    Object.fromEntries(
      Object.entries(tables[name]).map(([column, kind]) => [
        column,
        column === "id" ? primary(p) : builders[kind as ColumnKind](p),
      ]),
    ) as Columns<T>;
  return onchainTable(toSnakeCase(name) as string, columns, indexes);
}
