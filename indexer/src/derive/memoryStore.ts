import type { Store } from "./store.ts";
import type { Row, TableName } from "./tables.ts";

/** A store in memory, for recomputing a log offline. */
export class MemoryStore implements Store {
  readonly #tables = new Map<TableName, Map<string, Row<TableName>>>();

  async get<T extends TableName>(table: T, id: string): Promise<Row<T> | null> {
    return (this.rows(table).get(id) as Row<T> | undefined) ?? null;
  }

  async insert<T extends TableName>(table: T, row: Row<T>): Promise<void> {
    const rows = this.rows(table);
    if (rows.has(row.id)) throw new Error(`The row ${row.id} is in ${table} already.`);
    rows.set(row.id, row);
  }

  async update<T extends TableName>(
    table: T,
    id: string,
    change: Partial<Omit<Row<T>, "id">>,
  ): Promise<void> {
    const rows = this.rows(table);
    const row = rows.get(id);
    if (row === undefined) throw new Error(`There is no row ${id} in ${table} to update.`);
    rows.set(id, { ...row, ...change });
  }

  /** All rows of a table by id, in order of insertion. */
  rows<T extends TableName>(table: T): Map<string, Row<T>> {
    let rows = this.#tables.get(table);
    if (rows === undefined) {
      rows = new Map();
      this.#tables.set(table, rows);
    }
    return rows as unknown as Map<string, Row<T>>;
  }
}
