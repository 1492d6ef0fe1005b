import { changed } from "./changed.ts";
import type { Store } from "./store.ts";
import type { Row, TableName } from "./tables.ts";
import { tables } from "./tables.ts";

type Tables = { [T in TableName]: Map<string, Row<T>> };

/** A store in memory, to recompute a log offline. It answers at once, without promises. */
export class MemoryStore implements Store {
  readonly #tables = Object.fromEntries(Object.keys(tables).map((name) => [name, new Map()])) as Tables;

  get<T extends TableName>(table: T, id: string): Row<T> | null {
    return this.rows(table).get(id) ?? null;
  }

  insert<T extends TableName>(table: T, row: Row<T>): void {
    const rows = this.rows(table);
    const { size } = rows;
    rows.set(row.id, row);
    if (rows.size === size) throw new Error(`The row ${row.id} is in ${table} already.`);
  }

  put<T extends TableName>(table: T, row: Row<T>): void {
    this.rows(table).set(row.id, row);
  }

  update<T extends TableName>(table: T, id: string, change: Partial<Omit<Row<T>, "id">>): void {
    const rows = this.rows(table);
    const row = rows.get(id);
    if (row === undefined) throw new Error(`There is no row ${id} in ${table} to update.`);
    rows.set(id, changed(row, change));
  }

  /** All rows of a table by id, in order of insertion. */
  rows<T extends TableName>(table: T): Map<string, Row<T>> {
    return this.#tables[table] as Map<string, Row<T>>;
  }
}
