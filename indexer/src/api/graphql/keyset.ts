import type { SQL } from "drizzle-orm";
import { asc, desc, type PgColumn, sql } from "ponder";
import type { QueryContext } from "./context.ts";
import { queryError } from "./errors.ts";

/** The arguments of every Relay connection. */
export type PageArgs = {
  first?: number | null | undefined;
  after?: string | null | undefined;
  last?: number | null | undefined;
  before?: string | null | undefined;
};

export const MAX_PAGE = 100;
const DEFAULT_PAGE = 20;

type Key = (string | number)[];

export type KeysetOptions<Found> = {
  /** What the list is ordered by, all in one direction; together they tell every row from every other. */
  order: PgColumn[];
  direction: "asc" | "desc";
  /** Runs the query: rows after the cursor, in this order, at most `limit`. */
  select: (page: { after: SQL | undefined; order: SQL[]; limit: number }) => Promise<Found[]>;
  keyOf: (row: Found) => Key;
};

/**
 * One page of a list, found by where the last page ended instead of by counting rows: page 1,000 costs what page 1 costs, and
 * rows that arrive meanwhile move nothing.
 *
 * @throws GraphQLError `PAGE_TOO_LARGE`, `INVALID_CURSOR`, `INVALID_ARGUMENT`, `TOO_MANY_ROWS`
 */
export async function keysetPage<Found>(
  args: PageArgs,
  context: QueryContext,
  { order, direction, select, keyOf }: KeysetOptions<Found>,
) {
  const { backward, size, cursor } = readArgs(args);
  context.takeRows(size);
  const descending = (direction === "desc") !== backward;
  const found = await select({
    after: cursor === null ? undefined : beyond(order, readCursor(cursor, order), descending),
    order: order.map((column) => (descending ? desc(column) : asc(column))),
    limit: size + 1,
  });
  const more = found.length > size;
  const rows = found.slice(0, size);
  if (backward) rows.reverse();
  const edges = rows.map((node) => ({ cursor: writeCursor(keyOf(node)), node }));
  return {
    edges,
    pageInfo: {
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
      hasNextPage: backward ? cursor !== null : more,
      hasPreviousPage: backward ? more : cursor !== null,
    },
  };
}

function readArgs({ first, after, last, before }: PageArgs) {
  const backward = (last ?? null) !== null || ((before ?? null) !== null && (first ?? null) === null);
  if (backward && ((first ?? null) !== null || (after ?? null) !== null)) {
    throw queryError("INVALID_ARGUMENT", "Use first and after, or last and before, not both.");
  }
  if (!backward && (before ?? null) !== null) {
    throw queryError("INVALID_ARGUMENT", "before goes with last, not with first.");
  }
  const name = backward ? "last" : "first";
  const size = (backward ? last : first) ?? DEFAULT_PAGE;
  if (size < 0) throw queryError("INVALID_ARGUMENT", `${name} must not be negative.`);
  if (size > MAX_PAGE) {
    throw queryError(
      "PAGE_TOO_LARGE",
      `${name} must be at most ${MAX_PAGE}; go on with the cursor of the last edge.`,
    );
  }
  return { backward, size, cursor: (backward ? before : after) ?? null };
}

/** `(a, b) > (1, 2)`: the row comparison that an index over (a, b) answers. */
function beyond(order: PgColumn[], key: Key, descending: boolean): SQL {
  const columns = sql.join(order, sql`, `);
  const values = sql.join(
    key.map((value) => sql`${value}`),
    sql`, `,
  );
  return descending ? sql`(${columns}) < (${values})` : sql`(${columns}) > (${values})`;
}

function writeCursor(key: Key): string {
  return Buffer.from(JSON.stringify(key)).toString("base64url");
}

function readCursor(cursor: string, order: PgColumn[]): Key {
  const key = parseCursor(cursor);
  const fits =
    Array.isArray(key) &&
    key.length === order.length &&
    key.every((value, index) =>
      order[index]?.dataType === "number"
        ? Number.isSafeInteger(value)
        : typeof value === "string" && !value.includes("\0"),
    );
  if (!fits) throw queryError("INVALID_CURSOR", "This cursor is not one of this list's.");
  return key;
}

function parseCursor(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, "base64url").toString());
  } catch {
    return undefined;
  }
}
