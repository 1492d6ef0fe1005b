import { writePlace } from "../cursor.ts";
import { type EntryRow, entriesAt, genericIn, recordsIn } from "../rows/ledgerEntries.ts";
import { validRecords } from "../rows/records.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { readCursor } from "./cursor.ts";
import { plainText, queryError } from "./errors.ts";
import { EntryRef, entryOf } from "./ledger.ts";
import { listPage } from "./list.ts";
import { type PageArgs, readPageArgs } from "./pageArgs.ts";

const EntryConnection = builder.connectionObject(
  { type: EntryRef, name: "LedgerEntryConnection" },
  { name: "LedgerEntryEdge" },
);

builder.queryFields((t) => ({
  ledgerEntries: t.connection(
    {
      type: EntryRef,
      description:
        "The loaded entries of a followed ledger, the latest first: all of them, or the records or the generic work of one type.",
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        ledger: t.arg.id({ required: true }),
        recordType: t.arg.string({ description: "Only records of this type, such as receipt." }),
        workType: t.arg.string({ description: "Only generic work of this type, such as settlement." }),
      },
      resolve: (_, { ledger: id, recordType, workType, ...page }, context) => {
        const ledger = plainText(id.toLowerCase(), "ledger");
        if (recordType && workType)
          throw queryError("INVALID_ARGUMENT", "An entry is a record or generic work: name one type.");
        const args = { ...page, orderDirection: page.orderDirection ?? "desc" } as const;
        if (recordType) {
          const list = recordsIn(ledger, plainText(recordType, "recordType"));
          return listPage(args, context, list, { toNode: (record) => toEntry({ record }, context) });
        }
        if (workType) {
          const list = genericIn(ledger, plainText(workType, "workType"));
          return listPage(args, context, list, { toNode: (generic) => toEntry({ generic }, context) });
        }
        return entryPage(args, context, ledger);
      },
    },
    EntryConnection,
  ),
  paramsHistory: t.connection(
    {
      type: EntryRef,
      description:
        "The records that set the parameters, of every followed ledger, the latest first. The first values may come from the node's configuration.",
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: (_, args, context) =>
        listPage(args, context, validRecords("params"), {
          toNode: (record) => toEntry({ record }, context),
        }),
    },
    EntryConnection,
  ),
  ledgerEntryByHash: t.field({
    type: EntryRef,
    nullable: true,
    description:
      "The entry with this hash. If several ledgers have it, the entry of only one of them is given.",
    args: { hash: t.arg.string({ required: true }) },
    resolve: async (_, { hash }, context) => {
      const wanted = plainText(hash.toLowerCase(), "hash");
      const record = await context.load.recordByHash.load(wanted);
      return record === null ? context.load.genericByHash.load(wanted) : toEntry({ record }, context);
    },
  }),
}));

/** Converts a row to an entry. A record that was read with it is not read again. */
function toEntry(row: EntryRow, { load }: QueryContext) {
  if ("generic" in row) return row.generic;
  load.record.prime(row.record.id, row.record);
  return entryOf(row.record);
}

/** A page of a whole ledger. Positions have no gaps, so they are known without reading anything. */
async function entryPage(
  args: PageArgs & { orderDirection: "asc" | "desc" },
  context: QueryContext,
  ledger: string,
) {
  const { size, backward, cursor } = readPageArgs(args);
  const [after] = cursor === null ? [] : readCursor(cursor, ["bigint"]);
  context.takeRows(size);
  const length = (await context.load.ledger.load(ledger))?.size ?? 0;
  const down = (args.orderDirection === "desc") !== backward;
  const all = positions(length, after === undefined ? undefined : Number(after), down);
  const wanted = all.take(size);
  const rows = await entriesAt(context.db, ledger, wanted);
  if (backward) rows.reverse();
  const edges = rows.map((row) => {
    const node = toEntry(row, context);
    return { cursor: writePlace(JSON.stringify([String(node.seq)])), node };
  });
  const more = wanted.length < all.count;
  return {
    edges,
    pageInfo: {
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
      hasNextPage: backward ? cursor !== null : more,
      hasPreviousPage: backward ? more : cursor !== null,
    },
    countAll: async () => ({ count: length, isEstimate: false }),
  };
}

/** The positions of a ledger after a given one, upwards or downwards: their number, and the first ones. */
function positions(length: number, after: number | undefined, down: boolean) {
  const first = down
    ? Math.min(after ?? length, length) - 1
    : Math.max(after === undefined ? 0 : after + 1, 0);
  const count = Math.max(0, down ? first + 1 : length - first);
  return {
    count,
    take: (most: number) =>
      Array.from({ length: Math.min(count, most) }, (_, n) => (down ? first - n : first + n)),
  };
}
