import DataLoader from "dataloader";
import type { SQL } from "drizzle-orm";
import type { PgColumn, PgTable } from "drizzle-orm/pg-core";
import { sql } from "ponder";
import { writePlace } from "../cursor.ts";
import { decodeRow } from "../rows/rowsById.ts";
import type { ListCount } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { type Key, type KeyType, readCursor } from "./cursor.ts";
import { type PageArgs, type PageRequest, readPageArgs } from "./pageArgs.ts";

/** A column to order by, or an expression that an index has. */
export type OrderKey = PgColumn | { expression: SQL; type: KeyType };

export type ListOptions<T extends PgTable, Found> = {
  table: T;
  /** What the list is ordered by, all in one direction; together they tell every row from every other. */
  order: OrderKey[];
  direction: "asc" | "desc";
  /** What an index answers together with the order. */
  where?: SQL | undefined;
  /** What every row has to be looked at for: then a page looks at no more than {@link SCAN} rows for each it may give. */
  filter?: SQL | undefined;
  /**
   * The list belongs to one of many objects, by this column; all lists of one name and request are read by one statement, so
   * the name tells `where` and `filter` too. For one value it is worth it as well: the planner does not know the value, and
   * so cannot think of it as so frequent that it might as well read along another index and meet it by and by.
   */
  of?: { name: string; column: PgColumn; id: string } | undefined;
  /** Whether the exact length may be told. */
  coarseCount?: boolean | undefined;
  /** Those that `toNode` and what comes after it read; all without. Only for lists without `of`. */
  columns?: PgColumn[] | undefined;
  toNode: (row: T["$inferSelect"]) => Found;
};

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
) {
  if (along === undefined) return undefined;
  const [column, id] = along;
  return { name: `${name} ${JSON.stringify({ ...where, [column.name]: null })}`, column, id };
}

type ListRow<T extends PgTable> = { row: T["$inferSelect"]; key: string; keep: boolean; last: boolean };
type Select<T extends PgTable, Found> = Omit<ListOptions<T, Found>, "of"> & { page: PageRequest };

/**
 * One page of a list, found by where the last page ended instead of by counting rows: page 1,000 costs what page 1 costs, and
 * rows that arrive meanwhile move nothing. A page of a filtered list may have fewer rows than asked for, even none, while
 * there are more behind its end: `hasNextPage` and `endCursor` say so.
 *
 * @throws GraphQLError `PAGE_TOO_LARGE`, `INVALID_CURSOR`, `INVALID_ARGUMENT`, `TOO_MANY_ROWS`
 */
export async function listPage<T extends PgTable, Found>(
  args: PageArgs,
  context: QueryContext,
  given: ListOptions<T, Found>,
) {
  const options = { ...given, direction: args.orderDirection ?? given.direction };
  const page = readPageArgs(args);
  const after = page.cursor === null ? null : readCursor(page.cursor, options.order.map(typeOf));
  context.takeRows(page.size);
  const found = page.size === 0 ? [] : await rowsOf(context, options, page, after);
  const kept = found.filter(({ keep }) => keep);
  const rows = kept.slice(0, page.size);
  const cut = kept.length > page.size;
  const scanned = found.find(({ last }) => last);
  const more = cut || scanned !== undefined;
  const end = cut ? rows.at(-1) : (scanned ?? rows.at(-1));
  if (page.backward) rows.reverse();
  const [start, stop] = page.backward ? [end, rows.at(-1)] : [rows[0], end];
  return {
    // Few ask for the cursors of all edges, so they are written when somebody does.
    edges: rows.map(({ row, key }) => ({
      get cursor() {
        return writePlace(key);
      },
      node: options.toNode(row),
    })),
    pageInfo: {
      startCursor: start === undefined ? null : writePlace(start.key),
      endCursor: stop === undefined ? null : writePlace(stop.key),
      hasNextPage: page.backward ? page.cursor !== null : more,
      hasPreviousPage: page.backward ? more : page.cursor !== null,
    },
    countAll: remembered(async () => coarse(await lengthOf(context, options), options.coarseCount === true)),
  };
}

async function rowsOf<T extends PgTable, Found>(
  context: QueryContext,
  options: ListOptions<T, Found>,
  page: PageRequest,
  after: Key | null,
): Promise<ListRow<T>[]> {
  const { of } = options;
  const select = selectRows({ ...options, page }, after, of?.column);
  if (of === undefined) {
    const { rows } = await context.db.execute<RawRow>(select);
    return inOrder(rows).map((raw) => decode(options.table, raw));
  }
  const name = `${of.name} ${JSON.stringify([page, after, options.direction])}`;
  return await batch(context, name, of.id, async (parents) => {
    const { rows } = await context.db.execute<RawRow & { parent: string }>(
      sql`SELECT parents.parent, page.* FROM unnest(${sql.param([...parents])}::text[]) AS parents (parent) CROSS JOIN LATERAL (${select}) AS page`,
    );
    const byParent = Map.groupBy(rows, ({ parent }) => parent);
    return parents.map((parent) =>
      inOrder(byParent.get(parent) ?? []).map((raw) => decode(options.table, raw)),
    );
  });
}

function inOrder(rows: RawRow[]): RawRow[] {
  return rows.sort((a, b) => Number(a.list_place) - Number(b.list_place));
}

/** Rows after the cursor, numbered in the order of the list. With a filter also the last row looked at, to go on from. */
function selectRows<T extends PgTable, Found>(
  { table, order, direction, where, filter, page, columns }: Select<T, Found>,
  after: Key | null,
  parent: PgColumn | undefined,
): SQL {
  const descending = (direction === "desc") !== page.backward;
  const expressions = order.map(expressionOf);
  const orderBy = commas(expressions.map((it) => (descending ? sql`${it} DESC` : sql`${it} ASC`)));
  const conditions = [
    parent === undefined ? undefined : sql`${parent} = parents.parent`,
    where,
    after === null ? undefined : beyond(order, after, descending),
  ].filter((it) => it !== undefined);
  const limit = filter === undefined ? page.size + 1 : SCAN * page.size;
  const key = sql`to_json(ARRAY[${commas(expressions.map((it) => sql`${it}::text`))}])::text AS list_key`;
  const place = sql`row_number() OVER (ORDER BY ${orderBy}) AS list_place`;
  const keep = filter === undefined ? sql`true AS list_keep` : sql`(${filter}) IS TRUE AS list_keep`;
  const values = columns === undefined ? sql`${table}.*` : commas(columns.map((it) => sql`${it}`));
  const inner = sql`SELECT ${values}, ${key}, ${place}, ${keep} FROM ${table}${
    conditions.length === 0 ? sql`` : sql` WHERE ${sql.join(conditions, sql` AND `)}`
  } ORDER BY ${orderBy} LIMIT ${sql.raw(String(limit))}`;
  if (filter === undefined) return inner;
  const scanned = sql`list_place = ${sql.raw(String(limit))}`;
  // Not sorted again: that would read all of the inner rows before the first one is given. Whoever gets them sorts them.
  return sql`SELECT *, ${scanned} AS list_last FROM (${inner}) AS scanned WHERE list_keep OR ${scanned} LIMIT ${sql.raw(String(page.size + 2))}`;
}

/** `(a, b) > (1, 2)`: the row comparison that an index over (a, b) answers. */
function beyond(order: OrderKey[], key: Key, descending: boolean): SQL {
  const columns = commas(order.map(expressionOf));
  const values = commas(order.map((it, index) => sql`${key[index]}::${sql.raw(typeOf(it))}`));
  return descending ? sql`(${columns}) < (${values})` : sql`(${columns}) > (${values})`;
}

/** Counted as far as that reads little, estimated beyond. */
async function lengthOf<T extends PgTable, Found>(
  context: QueryContext,
  options: ListOptions<T, Found>,
): Promise<ListCount> {
  const counted = await countOf(context, options);
  if (counted !== null) return { count: counted, isEstimate: false };
  return { count: await estimateOf(context, options), isEstimate: true };
}

async function countOf<T extends PgTable, Found>(
  context: QueryContext,
  { table, where, filter, of }: ListOptions<T, Found>,
): Promise<number | null> {
  context.takeRows(1);
  const conditions = [of === undefined ? undefined : sql`${of.column} = parents.parent`, where];
  const kept = sql`SELECT ${filter === undefined ? sql`true` : sql`(${filter}) IS TRUE`} AS keep FROM ${table}${meeting(conditions)}`;
  const counted = sql`(${kept} LIMIT ${sql.raw(String(MAX_COUNT + 1))}) AS counted`;
  const count = sql`SELECT count(*) FILTER (WHERE keep) AS found, count(*) AS looked_at FROM ${counted}`;
  type Counts = { found: string; looked_at: string };
  const known = (it: Counts) => (Number(it.looked_at) > MAX_COUNT ? null : Number(it.found));
  if (of === undefined) {
    const { rows } = await context.db.execute<Counts>(count);
    return known(rows[0] as Counts);
  }
  return await batch(context, `${of.name} count`, of.id, async (parents) => {
    const { rows } = await context.db.execute<Counts & { parent: string }>(
      sql`SELECT parents.parent, counts.* FROM unnest(${sql.param([...parents])}::text[]) AS parents (parent) CROSS JOIN LATERAL (${count}) AS counts`,
    );
    const byParent = new Map(rows.map((row) => [row.parent, known(row)]));
    return parents.map((parent) => byParent.get(parent) ?? null);
  });
}

/** What Postgres expects of the whole list before it would read it, to two digits: it plans, and reads nothing. */
async function estimateOf<T extends PgTable, Found>(
  context: QueryContext,
  { table, where, filter, of }: ListOptions<T, Found>,
): Promise<number> {
  context.takeRows(1);
  const conditions = [of === undefined ? undefined : sql`${of.column} = ${of.id}`, where, filter];
  const { rows } = await context.db.execute<{ "QUERY PLAN": [{ Plan: { "Plan Rows": number } }] }>(
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

/** Of a private list no more than the power of ten that its length reaches. */
function coarse({ count, isEstimate }: ListCount, isCoarse: boolean): ListCount {
  return { count: !isCoarse || count === 0 ? count : 10 ** (String(count).length - 1), isEstimate };
}

/** Asks once, however many fields are told from the answer. */
function remembered<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
}

/** Everything asked for under one name in one tick of the event loop is read together. */
function batch<Found>(
  { lists }: QueryContext,
  name: string,
  parent: string,
  read: (parents: readonly string[]) => Promise<Found[]>,
): Promise<Found> {
  let loader = lists.get(name) as DataLoader<string, Found> | undefined;
  if (loader === undefined) {
    loader = new DataLoader<string, Found>(read);
    lists.set(name, loader as DataLoader<string, unknown>);
  }
  return loader.load(parent);
}

type RawRow = Record<string, unknown> & { list_key: string; list_keep: boolean; list_last?: boolean };

function decode<T extends PgTable>(table: T, raw: RawRow): ListRow<T> {
  const { list_key: key, list_keep: keep, list_last: last = false } = raw;
  return { row: decodeRow(table, raw), key, keep, last };
}

function expressionOf(key: OrderKey): SQL {
  return "expression" in key ? key.expression : sql`${key}`;
}

function typeOf(key: OrderKey): KeyType {
  if ("expression" in key) return key.type;
  const type = key.getSQLType();
  return type === "bigint" ? "bigint" : type.startsWith("numeric") ? "numeric" : "text";
}

function commas(parts: SQL[]): SQL {
  return sql.join(parts, sql`, `);
}
