import type { Context } from "ponder:registry";
import { tables as columnsOf, type Row, type TableName } from "tallystick-derive/tables";
import * as schema from "../ponder.schema.ts";
import type { RowDatabase } from "./rows/projector.ts";
import { READ_AGAIN } from "./rows/readAgain.ts";

type Tables = { [T in TableName]: { $inferSelect: Row<T> } };

/** The type checks that the schema has every table of the derivation, with exactly its columns. */
const tables = schema satisfies Tables;

/**
 * The derivation's rows in Ponder's database. It uses only look-ups by primary key. Ponder answers these from
 * its cache, and rolls the rows back on a reorg. Raw SQL would flush the cache at every event.
 */
export function ponderRows(db: Context["db"]): RowDatabase {
  // The table's type depends on the name, which TypeScript cannot follow through Ponder's generics.
  const tableOf = (name: TableName) => tables[name] as typeof tables.listPage;
  return {
    find: async <T extends TableName>(table: T, id: string) => {
      const row = await db.find(tableOf(table), { id });
      return row === null ? null : asItIsNow(table, row as Row<TableName>);
    },
    insert: async (table, rows) => {
      await db.insert(tableOf(table)).values(rows as unknown as Row<"listPage">[]);
    },
    update: async (table, before, after) => {
      await db.update(tableOf(table), { id: after.id }).set(changeOf(table, before, after));
    },
    begin: async () => {
      for (const name of READ_AGAIN) {
        for (let n = 0; n < ASKED; n++) await db.find(tableOf(name), { id: "" });
      }
    },
    logEvents: async (events) => {
      if (events.length === 0) return;
      const rows = events.map(({ position, event }) => ({ position, json: JSON.stringify(event) }));
      await db.insert(schema.eventLog).values(rows);
    },
    isLogged: async ({ position, payment }) => {
      if (payment === null) return (await db.find(schema.eventLog, { position })) !== null;
      const found = await db.find(schema.payment, { id: payment.id });
      // On another fork the same payment may have another position.
      return found !== null && found.block === payment.block && found.log === payment.log;
    },
  };
}

/**
 * The look-ups that each table of {@link READ_AGAIN} gets at the start. When Ponder's cache is full, it drops whole tables: first
 * those with the fewest look-ups of rows that do not exist. The projector itself remembers which rows do not exist, so it
 * makes few such look-ups, and Ponder would drop these tables like any other. So at the start each of them gets this many
 * look-ups of a row that does not exist. Other tables never get so many.
 */
const ASKED = 1_000;

const columns = Object.fromEntries(
  Object.entries(columnsOf).map(([name, kinds]) => [name, Object.keys(kinds)]),
) as { [T in TableName]: (keyof Row<T>)[] };

/** The columns that differ: Ponder copies and checks each given column. */
function changeOf<T extends TableName>(table: T, before: Row<T>, after: Row<T>): Partial<Row<"listPage">> {
  const change: Partial<Row<T>> = {};
  for (const column of columns[table]) {
    if (before[column] !== after[column]) change[column] = after[column];
  }
  return change as Partial<Row<"listPage">>;
}

/**
 * A copy of the row. Ponder returns a view of the row in its cache. A later update changes that view, but the
 * derivation still uses what it has read.
 */
function asItIsNow<T extends TableName>(table: T, row: Row<TableName>): Row<T> {
  // The row behind the view, because reading each column through the view (a Proxy) is slow.
  const source = ((row as { [VIEWED]?: Row<T> })[VIEWED] ?? row) as Row<T>;
  const copy = {} as Row<T>;
  for (const column of columns[table]) copy[column] = source[column];
  return copy;
}

/** The key under which Ponder's view returns its row. */
const VIEWED = Symbol.for("ponder:copyOnWrite");
