import { getTableColumns, type SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { sql } from "ponder";
import type { Place, PlaceKind } from "../cursor.ts";
import type { Database } from "../database.ts";
import { type Batches, batched } from "./batched.ts";
import { decodeRow } from "./rowsById.ts";

/** How a value that a list is ordered by is written in a place. */
export type OrderKind = Extract<PlaceKind, "text" | "bigint" | "numeric">;

/** A column to order by, or an expression that an index has. */
export type OrderKey = PgColumn | { expression: SQL; type: OrderKind };

type TableOf<Found> = PgTable & { readonly $inferSelect: Found };

/** Rows of a table in an order. The other modules of this folder make them; readers take one as it is. */
export type RowList<Found> = {
  table: TableOf<Found>;
  /** What the list is ordered by, all in one direction; together they tell every row from every other. */
  order: readonly OrderKey[];
  direction: "asc" | "desc";
  /** What an index answers together with the order. */
  where?: SQL | undefined;
  /** What every row has to be looked at for: then a page looks at no more than {@link SCAN} rows for each it may give. */
  filter?: SQL | undefined;
  /**
   * The list belongs to one of many objects, by this column. One statement reads all lists of one name and request, so the
   * name must identify `where` and `filter` too. It helps even for one value. The planner does not know the value, so it
   * cannot assume that the value is frequent and read along another index until it meets it. Instead of a column it may be
   * an expression that an index has.
   */
  of?: { name: string; column: PgColumn | SQL; id: string } | undefined;
  /** Those that are read of each row; all without. Only for lists without `of`. */
  columns?: readonly (keyof Found & string)[] | undefined;
};

/** Which part of a list to read: rows after a place of its order, or before it, from there backward. */
export type ListPart = { size: number; backward: boolean; after: Place | null };

/** A row, and its place as JSON. */
export type PlacedRow<Found> = { row: Found; key: string };

/** Rows as they were read; there is `more` behind `end`, which of a filtered list may be a row that is not among them. */
export type ListPage<Found> = {
  rows: PlacedRow<Found>[];
  end: PlacedRow<Found> | undefined;
  more: boolean;
};

/** What a request reads its lists with: those of one name together. */
export type ListReader = { db: Database; batches: Batches };

/** Rows looked at for each row that a page may have. */
const SCAN = 10;

/** A longer list is not counted: that would read all of it. */
export const MAX_COUNT = 10_000;

/** Those columns that are to have a value. The list is read along the index of the first, the others are a filter. */
export function known(
  ...columns: [column: PgColumn, value: string | null | undefined][]
): [PgColumn, string][] {
  return columns.flatMap(([column, value]) => (value ? [[column, value]] : []));
}

/** A root list that is read along one column; `where` tells it from others of the same request. */
export function readAlong(
  name: string,
  along: [PgColumn, string] | undefined,
  where: object | null | undefined,
): RowList<unknown>["of"] {
  if (along === undefined) return undefined;
  const [column, id] = along;
  return { name: `${name} ${JSON.stringify({ ...where, [column.name]: null })}`, column, id };
}

/** How the values of a place in a list are written. */
export function placeKinds({ order }: Pick<RowList<unknown>, "order">): OrderKind[] {
  return order.map(typeOf);
}

/**
 * Part of a list, found by where it begins instead of by counting rows: page 1,000 costs what page 1 costs, and rows that
 * arrive meanwhile move nothing. Of a filtered list it may have fewer rows than asked for, even none, while there is more.
 */
export async function readPage<Found>(
  reader: ListReader,
  list: RowList<Found>,
  part: ListPart,
): Promise<ListPage<Found>> {
  const found = part.size === 0 ? [] : await readRows(reader, list, part);
  const kept = found.filter(({ keep }) => keep);
  const rows = kept.slice(0, part.size);
  const scanned = found.find(({ last }) => last);
  const isCut = kept.length > part.size;
  return { rows, end: isCut ? rows.at(-1) : (scanned ?? rows.at(-1)), more: isCut || scanned !== undefined };
}

/** One row more than asked for, when there is one: it tells that there is more. Of a filtered list also the last one looked at. */
async function readRows<Found>(
  reader: ListReader,
  list: RowList<Found>,
  part: ListPart,
): Promise<ListRow<Found>[]> {
  const { table, of, direction } = list;
  const select = selectRows(list, part);
  if (of === undefined) {
    const { rows } = await reader.db.execute<RawRow>(select);
    return inOrder(rows).map((raw) => decode(table, raw));
  }
  return await batched(
    reader.batches,
    `${of.name} ${JSON.stringify([part, direction])}`,
    of.id,
    async (parents) => {
      // By a name that no table has a column of: rows of `page` would take its place.
      const { rows } = await reader.db.execute<RawRow & { list_parent: string }>(
        sql`SELECT parents.parent AS list_parent, page.* FROM unnest(${sql.param([...parents])}::text[]) AS parents (parent) CROSS JOIN LATERAL (${select}) AS page`,
      );
      const byParent = Map.groupBy(rows, ({ list_parent }) => list_parent);
      return parents.map((parent) => inOrder(byParent.get(parent) ?? []).map((raw) => decode(table, raw)));
    },
  );
}

function inOrder(rows: RawRow[]): RawRow[] {
  return rows.sort((a, b) => Number(a.list_place) - Number(b.list_place));
}

/** Rows after the cursor, numbered in the order of the list. With a filter also the last row looked at, to go on from. */
function selectRows<Found>(
  { table, order, direction, where, filter, of, columns }: RowList<Found>,
  { size, backward, after }: ListPart,
): SQL {
  const descending = (direction === "desc") !== backward;
  const expressions = order.map(expressionOf);
  const orderBy = commas(expressions.map((it) => (descending ? sql`${it} DESC` : sql`${it} ASC`)));
  const conditions = [
    of && sql`${of.column} = parents.parent`,
    where,
    after === null ? undefined : beyond(order, after, descending),
  ].filter((it) => it !== undefined);
  const limit = filter === undefined ? size + 1 : SCAN * size;
  const key = sql`to_json(ARRAY[${commas(expressions.map((it) => sql`${it}::text`))}])::text AS list_key`;
  const place = sql`row_number() OVER (ORDER BY ${orderBy}) AS list_place`;
  const keep = filter === undefined ? sql`true AS list_keep` : sql`(${filter}) IS TRUE AS list_keep`;
  const all: { [name: string]: PgColumn } = getTableColumns(table);
  const values = columns === undefined ? sql`${table}.*` : commas(columns.map((name) => sql`${all[name]}`));
  const inner = sql`SELECT ${values}, ${key}, ${place}, ${keep} FROM ${table}${
    conditions.length === 0 ? sql`` : sql` WHERE ${sql.join(conditions, sql` AND `)}`
  } ORDER BY ${orderBy} LIMIT ${sql.raw(String(limit))}`;
  if (filter === undefined) return inner;
  const scanned = sql`list_place = ${sql.raw(String(limit))}`;
  // Not sorted again: that would read all of the inner rows before the first one is given. The reader sorts them.
  return sql`SELECT *, ${scanned} AS list_last FROM (${inner}) AS scanned WHERE list_keep OR ${scanned} LIMIT ${sql.raw(String(size + 2))}`;
}

/** `(a, b) > (1, 2)`: the row comparison that an index over (a, b) answers. */
function beyond(order: readonly OrderKey[], key: Place, descending: boolean): SQL {
  const columns = commas(order.map(expressionOf));
  const values = commas(order.map((it, index) => sql`${key[index]}::${sql.raw(typeOf(it))}`));
  return descending ? sql`(${columns}) < (${values})` : sql`(${columns}) > (${values})`;
}

/**
 * How many rows a list has, counted as far as {@link MAX_COUNT}; null when it may have more. Lists of one name are counted by
 * one statement.
 */
export async function countRows<Found>(
  reader: ListReader,
  { table, where, filter, of }: RowList<Found>,
): Promise<number | null> {
  const conditions = [of && sql`${of.column} = parents.parent`, where];
  const kept = sql`SELECT ${filter === undefined ? sql`true` : sql`(${filter}) IS TRUE`} AS keep FROM ${table}${meeting(conditions)}`;
  const counted = sql`(${kept} LIMIT ${sql.raw(String(MAX_COUNT + 1))}) AS counted`;
  const count = sql`SELECT count(*) FILTER (WHERE keep) AS found, count(*) AS looked_at FROM ${counted}`;
  type Counts = { found: string; looked_at: string };
  const known = (it: Counts) => (Number(it.looked_at) > MAX_COUNT ? null : Number(it.found));
  if (of === undefined) {
    const { rows } = await reader.db.execute<Counts>(count);
    return known(rows[0] as Counts);
  }
  return await batched(reader.batches, `${of.name} count`, of.id, async (parents) => {
    const { rows } = await reader.db.execute<Counts & { parent: string }>(
      sql`SELECT parents.parent, counts.* FROM unnest(${sql.param([...parents])}::text[]) AS parents (parent) CROSS JOIN LATERAL (${count}) AS counts`,
    );
    const byParent = new Map(rows.map((row) => [row.parent, known(row)]));
    return parents.map((parent) => byParent.get(parent) ?? null);
  });
}

/** What Postgres expects of the whole list, one of more than {@link MAX_COUNT}, to two digits: it plans, and reads nothing. */
export async function estimateRows<Found>(
  { db }: ListReader,
  { table, where, filter, of }: RowList<Found>,
): Promise<number> {
  const conditions = [of && sql`${of.column} = ${of.id}`, where, filter];
  const { rows } = await db.execute<{ "QUERY PLAN": [{ Plan: { "Plan Rows": number } }] }>(
    sql`EXPLAIN (FORMAT JSON) SELECT 1 FROM ${table}${meeting(conditions)}`,
  );
  const expected = rows[0]?.["QUERY PLAN"][0].Plan["Plan Rows"] ?? 0;
  // With a filter fewer may meet it than were looked at.
  return Math.max(Number(expected.toPrecision(2)), filter === undefined ? MAX_COUNT : 0);
}

function meeting(conditions: (SQL | undefined)[]): SQL {
  const all = conditions.filter((it) => it !== undefined).map((it) => sql`(${it})`);
  return all.length === 0 ? sql`` : sql` WHERE ${sql.join(all, sql` AND `)}`;
}

/** `keep` is false of the `last` row looked at when it does not meet the filter. */
type ListRow<Found> = PlacedRow<Found> & { keep: boolean; last: boolean };

type RawRow = Record<string, unknown> & { list_key: string; list_keep: boolean; list_last?: boolean };

function decode<Found>(table: TableOf<Found>, raw: RawRow): ListRow<Found> {
  const { list_key: key, list_keep: keep, list_last: last = false } = raw;
  return { row: decodeRow(table, raw), key, keep, last };
}

function expressionOf(key: OrderKey): SQL {
  return "expression" in key ? key.expression : sql`${key}`;
}

function typeOf(key: OrderKey): OrderKind {
  if ("expression" in key) return key.type;
  const type = key.getSQLType();
  return type === "bigint" ? "bigint" : type.startsWith("numeric") ? "numeric" : "text";
}

function commas(parts: SQL[]): SQL {
  return sql.join(parts, sql`, `);
}
