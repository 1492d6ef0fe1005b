import type { Store } from "./store.ts";
import type { Row, TableName } from "./tables.ts";

/** The row with this id, where an earlier event made sure that there is one. */
export function existingRow<T extends TableName>(store: Pick<Store, "get">, table: T, id: string): Row<T> {
  const row = store.get(table, id);
  if (row === null) throw new Error(`There is no row ${id} in ${table}.`);
  return row;
}
