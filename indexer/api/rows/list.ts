import { getTableColumns, type SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { sql } from "ponder";
import type { Turns } from "tallystick-runtime/http/turns";
import type { Place, PlaceKind } from "../cursor.ts";
import type { Database } from "../database.ts";
import { type Batches, batched } from "./batched.ts";
import { decodeRow } from "./rowsById.ts";

/**
 * The type of a value in a place. A place is a row's position in a list: the values that the list is ordered
 * by.
 */
export type OrderKind = Extract<PlaceKind, "text" | "bigint" | "numeric">;

/** A column to order by, or an expression that an index has. */
export type OrderKey = PgColumn | { expression: SQL; type: OrderKind };

type TableOf<Found> = PgTable & { readonly $inferSelect: Found };

/**
 * A list: rows of a table in an order. The other modules of this folder make lists, and only these modules
 * know columns and indexes.
 */
export type RowList<Found> = {
  table: TableOf<Found>;
  /** The columns of the order, all in one direction. No two rows have the same values for all of these. */
  order: readonly OrderKey[];
  direction: "asc" | "desc";
  /** A condition. The index of the order answers it too. */
  where?: SQL | undefined;
  /**
   * A condition that no index answers. Each row must be read to check it. A page reads at most {@link SCAN}
   * rows for each row that it may return.
   */
  filter?: SQL | undefined;
  /**
   * A condition for rows that nobody may notice. Rows without it are skipped, however many they are, and no cursor names
   * them. The client pays for thousands of them, in points. Only for lists without `filter`.
   */
  open?: SQL | undefined;
  /**
   * The list belongs to one of many objects, found by this column (or by an expression that an index has). One
   * statement reads all lists of one name in a request, so the name must identify `where`, `filter` and `open` too.
   * This helps even for a single list: Postgres does not see the value while it plans, so it cannot guess that
   * the value is frequent and choose another index.
   */
  of?: { name: string; column: PgColumn | SQL; id: string } | undefined;
  /** The columns that are read. Default: all. Only for lists without `of`. */
  columns?: readonly (keyof Found & string)[] | undefined;
};

/** The part of a list to read: the rows after a place, or the rows before it, backward. */
export type ListPart = { size: number; backward: boolean; after: Place | null };

/** A row, and its place as JSON. */
export type PlacedRow<Found> = { row: Found; key: string };

/**
 * The rows of a page. `end` is the last row that was read, and `more` says whether rows follow it. In a
 * filtered list `end` may be a row that is not on the page. `skipped` is the number of rows that are not `open`, as
 * {@link chargedSkips} rounds it.
 */
export type ListPage<Found> = {
  rows: PlacedRow<Found>[];
  end: PlacedRow<Found> | undefined;
  more: boolean;
  skipped: number;
};

/** What a request needs to read lists. Lists of one name are read together. */
export type ListReader = { db: Database; batches: Batches };

/** What a request needs to count lists. */
export type ListCounter = ListReader & {
  /** Its statements that count rows run one after another, so that the limit of rows can stop them. */
  counting: Turns;
  /** Takes rows from the request's limit; throws when they are too many. */
  takeRows: (count: number) => void;
  /** Takes points from the client's budget. */
  charge: (points: number) => void;
};

/** How many rows are read for each row that a page may have. */
const SCAN = 10;

/** The longest list that is counted. Counting a longer list would read all of it. */
export const MAX_COUNT = 10_000;

/** Rows that a count may look at for one row of the request's limit. They are not sent to anybody. */
const LOOKS_PER_ROW = 50;

/** Skipped rows that cost the client one point. Fewer cost nothing beside {@link SKIPPING_POINTS}. */
export const FREE_SKIPS = 2_500;

/**
 * What the client pays for each list that may skip rows, however many it skips. Otherwise one query could skip a few thousand
 * rows in each of a hundred lists for nothing.
 */
export const SKIPPING_POINTS = 1;

/** The lists of one name that one statement counts. */
const COUNTED_TOGETHER = 10;

/**
 * The columns for which a value is wanted, each with that value. A list uses the index of the first column; the other
 * columns are a filter.
 */
export function wantedColumns(
  ...columns: [column: PgColumn, value: string | null | undefined][]
): [PgColumn, string][] {
  return columns.flatMap(([column, value]) => (value ? [[column, value]] : []));
}

/**
 * The `of` of a list at the top of a query, which reads along the index of one column. `where` makes the name
 * different from the names of other lists of the request.
 */
export function alongColumn(
  name: string,
  along: [PgColumn, string] | undefined,
  where: object | null | undefined,
): RowList<unknown>["of"] {
  if (along === undefined) return undefined;
  const [column, id] = along;
  return { name: `${name} ${JSON.stringify({ ...where, [column.name]: null })}`, column, id };
}

/** The types of the values of a list's places. */
export function placeKinds({ order }: Pick<RowList<unknown>, "order">): OrderKind[] {
  return order.map(typeOf);
}

/**
 * Reads a part of a list that begins at a place (keyset pagination). So page 1,000 costs as much as page 1, and
 * new rows do not shift pages. A part of a filtered list may have fewer rows than requested, even none,
 * although more follow.
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
  const end = isCut ? rows.at(-1) : (scanned ?? rows.at(-1));
  const skipped = list.open === undefined ? 0 : chargedSkips((found.at(-1)?.place ?? 0) - kept.length);
  return { rows, end, more: isCut || scanned !== undefined, skipped };
}

/**
 * Rounds down a number of skipped rows to {@link FREE_SKIPS}. Anybody may choose where a page begins, so a price of a few
 * rows would reveal every single one of them.
 */
export function chargedSkips(count: number): number {
  return Math.floor(count / FREE_SKIPS) * FREE_SKIPS;
}

/**
 * Reads one row more than requested, to see whether more follow. For a filtered list it also returns the last
 * row that was read.
 */
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
      // The alias is a name that no table's columns have. Otherwise a column of `page` would replace it.
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

/**
 * Selects the rows after the cursor, numbered in the order of the list. With a filter, it also selects the last
 * row that was read, where the next page begins.
 */
function selectRows<Found>(
  { table, order, direction, where, filter, open, of, columns }: RowList<Found>,
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
  const condition = filter ?? open;
  const keep = condition === undefined ? sql`true AS list_keep` : sql`(${condition}) IS TRUE AS list_keep`;
  const all: { [name: string]: PgColumn } = getTableColumns(table);
  const values = columns === undefined ? sql`${table}.*` : commas(columns.map((name) => sql`${all[name]}`));
  const from = sql`FROM ${table}${
    conditions.length === 0 ? sql`` : sql` WHERE ${sql.join(conditions, sql` AND `)}`
  } ORDER BY ${orderBy}`;
  if (open !== undefined) {
    // The last row of the list comes too. Its place is the number of rows that were read.
    const isEnd = sql`lead(false, 1, true) OVER (ORDER BY ${orderBy}) AS list_end`;
    return sql`SELECT * FROM (SELECT ${values}, ${key}, ${place}, ${keep}, ${isEnd} ${from}) AS walked WHERE list_keep OR list_end LIMIT ${sql.raw(String(limit))}`;
  }
  const inner = sql`SELECT ${values}, ${key}, ${place}, ${keep} ${from} LIMIT ${sql.raw(String(limit))}`;
  if (filter === undefined) return inner;
  const scanned = sql`list_place = ${sql.raw(String(limit))}`;
  // The rows are not sorted here, because that would read all inner rows before the first one is returned. The
  // caller sorts them.
  return sql`SELECT *, ${scanned} AS list_last FROM (${inner}) AS scanned WHERE list_keep OR ${scanned} LIMIT ${sql.raw(String(size + 2))}`;
}

/** Makes a row comparison like `(a, b) > (1, 2)`, which an index over (a, b) can answer. */
function beyond(order: readonly OrderKey[], key: Place, descending: boolean): SQL {
  const columns = commas(order.map(expressionOf));
  const values = commas(order.map((it, index) => sql`${key[index]}::${sql.raw(typeOf(it))}`));
  return descending ? sql`(${columns}) < (${values})` : sql`(${columns}) > (${values})`;
}

/**
 * The number of rows of a list, up to {@link MAX_COUNT}; null when it may have more. Lists of one name are
 * counted together. The rows that are looked at use the request's limit, and the client pays for those that are skipped.
 */
export async function countRows<Found>(
  counter: ListCounter,
  { table, where, filter, open, of }: RowList<Found>,
): Promise<number | null> {
  const conditions = [of && sql`${of.column} = parents.parent`, where];
  const condition = filter ?? open;
  const kept = sql`SELECT ${condition === undefined ? sql`true` : sql`(${condition}) IS TRUE`} AS keep FROM ${table}${meeting(conditions)}`;
  const counted = sql`(${kept} LIMIT ${sql.raw(String(MAX_COUNT + 1))}) AS counted`;
  const count = sql`SELECT count(*) FILTER (WHERE keep) AS found, count(*) AS looked_at FROM ${counted}`;
  const hidesRows = open !== undefined;
  const known = (it: Counts) => (Number(it.looked_at) > MAX_COUNT ? null : Number(it.found));
  if (of === undefined) {
    const [row] = await lookAt(counter, count, hidesRows);
    return known(row as Counts);
  }
  return await batched(counter.batches, `${of.name} count`, of.id, async (parents) => {
    const byParent = new Map<string, number | null>();
    for (let at = 0; at < parents.length; at += COUNTED_TOGETHER) {
      const some = sql.param(parents.slice(at, at + COUNTED_TOGETHER));
      const rows = await lookAt(
        counter,
        sql`SELECT parents.parent, counts.* FROM unnest(${some}::text[]) AS parents (parent) CROSS JOIN LATERAL (${count}) AS counts`,
        hidesRows,
      );
      for (const row of rows) byParent.set(String(row.parent), known(row));
    }
    return parents.map((parent) => byParent.get(parent) ?? null);
  });
}

type Counts = { found: string; looked_at: string; parent?: string };

/**
 * Runs a statement that counts rows when its turn comes. Takes the rows that it looked at from the request's limit.
 *
 * @param hidesRows whether nobody may notice the rows that it looked at and did not find. They cost points, and never cause
 * an error
 */
async function lookAt(
  { db, counting, takeRows, charge }: ListCounter,
  statement: SQL,
  hidesRows: boolean,
): Promise<Counts[]> {
  const rows = await counting.run(async () => {
    // The counts before this one may have used up the limit.
    takeRows(0);
    const result = await db.execute<Counts>(statement);
    return result.rows;
  });
  const sumOf = (name: "found" | "looked_at") => rows.reduce((sum, it) => sum + Number(it[name]), 0);
  const [found, lookedAt] = [sumOf("found"), sumOf("looked_at")];
  if (hidesRows) charge(SKIPPING_POINTS + chargedSkips(lookedAt - found) / FREE_SKIPS);
  // The number is rounded up to whole rows, so that the limit does not reveal the exact length of a private list.
  takeRows(Math.ceil((hidesRows ? found : lookedAt) / LOOKS_PER_ROW));
  return rows;
}

/**
 * Postgres's own estimate of the length of a list with more than {@link MAX_COUNT} rows, to two digits.
 * Postgres only plans the query; it reads no rows.
 */
export async function estimateRows<Found>(
  { db }: ListReader,
  { table, where, filter, open, of }: RowList<Found>,
): Promise<number> {
  const conditions = [of && sql`${of.column} = ${of.id}`, where, filter, open];
  const { rows } = await db.execute<{ "QUERY PLAN": [{ Plan: { "Plan Rows": number } }] }>(
    sql`EXPLAIN (FORMAT JSON) SELECT 1 FROM ${table}${meeting(conditions)}`,
  );
  const expected = rows[0]?.["QUERY PLAN"][0].Plan["Plan Rows"] ?? 0;
  // Only a part of the rows that were read may pass the filter.
  return Math.max(Number(expected.toPrecision(2)), (filter ?? open) === undefined ? MAX_COUNT : 0);
}

function meeting(conditions: (SQL | undefined)[]): SQL {
  const all = conditions.filter((it) => it !== undefined).map((it) => sql`(${it})`);
  return all.length === 0 ? sql`` : sql` WHERE ${sql.join(all, sql` AND `)}`;
}

/** `keep` is false if the `last` row that was read does not pass the filter. */
type ListRow<Found> = PlacedRow<Found> & { keep: boolean; last: boolean; place: number };

type RawRow = Record<string, unknown> & {
  list_key: string;
  list_place: string;
  list_keep: boolean;
  list_last?: boolean;
};

function decode<Found>(table: TableOf<Found>, raw: RawRow): ListRow<Found> {
  const { list_key: key, list_keep: keep, list_last: last = false } = raw;
  return { row: decodeRow(table, raw), key, keep, last, place: Number(raw.list_place) };
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
