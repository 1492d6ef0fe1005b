import type { Context } from "ponder:registry";
import * as schema from "../ponder.schema.ts";
import type { Store } from "./derive/store.ts";
import type { Row, TableName } from "./derive/tables.ts";

type Tables = { [T in TableName]: { $inferSelect: Row<T> } };

/** The type check that every table of the derivation is in the schema, with exactly its columns. */
const tables = schema satisfies Tables;

/**
 * The derivation's store on Ponder's database. Only look-ups by primary key: those are served from Ponder's cache and rolled
 * back by it on a reorg, while raw SQL would flush the cache at every event.
 */
export function ponderStore(db: Context["db"]): Store {
  // The table's type depends on the name, which TypeScript cannot follow through Ponder's generics.
  const tableOf = (name: TableName) => tables[name] as typeof tables.item;
  return {
    get: async <T extends TableName>(table: T, id: string) =>
      (await db.find(tableOf(table), { id })) as Row<T> | null,
    insert: async (table, row) => {
      await db.insert(tableOf(table)).values(row as unknown as Row<"item">);
    },
    update: async (table, id, change) => {
      await db.update(tableOf(table), { id }).set(change);
    },
  };
}
