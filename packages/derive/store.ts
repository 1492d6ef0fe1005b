import type { Row, TableName } from "./tables.ts";

/**
 * All the derivation knows of storage: rows by table and primary key. There is no delete and no listing, so the same code
 * runs over an indexer's database, which rolls back on a reorg, and over a map in memory. A store answers at once. Rows of
 * a database are read before: see `LoadedRows`.
 */
export type Store = {
  /** The row, or null. The caller must not change what it gets. */
  get<T extends TableName>(table: T, id: string): Row<T> | null;
  /** Adds a row; its id must be new. */
  insert<T extends TableName>(table: T, row: Row<T>): void;
  /** Changes some columns of a row that exists. */
  update<T extends TableName>(table: T, id: string, change: Partial<Omit<Row<T>, "id">>): void;
};
