import { writePlace } from "../cursor.ts";
import {
  countRows,
  estimateRows,
  FREE_SKIPS,
  placeKinds,
  type RowList,
  readPage,
  SKIPPING_POINTS,
} from "../rows/list.ts";
import type { ListCount } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { readCursor } from "./cursor.ts";
import { type PageArgs, readPageArgs } from "./pageArgs.ts";

type ListOptions<Row, Node> = {
  /** Shows only the order of magnitude of the length. */
  coarseCount?: boolean;
  /** Converts a row to its node; without it the row itself is the node. */
  toNode?: (row: Row) => Node;
};

/**
 * One page of a list of rows. A page of a filtered list may have fewer rows than requested, or none, although
 * more rows follow. `hasNextPage` and `endCursor` show this.
 *
 * @throws GraphQLError `PAGE_TOO_LARGE`, `INVALID_CURSOR`, `INVALID_ARGUMENT`, `TOO_MANY_ROWS`
 */
export async function listPage<Row, Node = Row>(
  args: PageArgs,
  context: QueryContext,
  given: RowList<Row>,
  { coarseCount = false, toNode = (row) => row as never }: ListOptions<Row, Node> = {},
) {
  const list = { ...given, direction: args.orderDirection ?? given.direction };
  const { size, backward, cursor } = readPageArgs(args);
  const after = cursor === null ? null : readCursor(cursor, placeKinds(list));
  context.takeRows(size);
  if (list.open !== undefined && size > 0) context.charge(SKIPPING_POINTS);
  const { rows, end, more, skipped } = await readPage(context, list, { size, backward, after });
  // Points, and no rows of the limit: its error would tell strangers about rows that they may not notice.
  context.charge(skipped / FREE_SKIPS);
  if (backward) rows.reverse();
  const [start, stop] = backward ? [end, rows.at(-1)] : [rows[0], end];
  return {
    // Few queries ask for the cursors of edges, so a cursor is made only on request.
    edges: rows.map(({ row, key }) => ({
      get cursor() {
        return writePlace(key);
      },
      node: toNode(row),
    })),
    pageInfo: {
      startCursor: start === undefined ? null : writePlace(start.key),
      endCursor: stop === undefined ? null : writePlace(stop.key),
      hasNextPage: backward ? cursor !== null : more,
      hasPreviousPage: backward ? more : cursor !== null,
    },
    countAll: remembered(async () => coarse(await lengthOf(context, list), coarseCount)),
  };
}

/** Counts a short list, and estimates the length of a long list. Both take rows from the request's limit. */
async function lengthOf<Row>(context: QueryContext, list: RowList<Row>): Promise<ListCount> {
  context.takeRows(1);
  const count = await countRows(context, list);
  if (count !== null) return { count, isEstimate: false };
  context.takeRows(1);
  return { count: await estimateRows(context, list), isEstimate: true };
}

/** For a private list, the length is rounded down to a power of ten. */
function coarse({ count, isEstimate }: ListCount, isCoarse: boolean): ListCount {
  return { count: !isCoarse || count === 0 ? count : 10 ** (String(count).length - 1), isEstimate };
}

/** Calls `ask` only once, even if many fields use its answer. */
function remembered<Answer>(ask: () => Promise<Answer>): () => Promise<Answer> {
  let answer: Promise<Answer> | undefined;
  return () => {
    answer ??= ask();
    return answer;
  };
}
