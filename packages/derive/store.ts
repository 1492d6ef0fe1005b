import type { Row, TableName } from "./tables.ts";

/**
 * The derivation's only view of storage: rows by table and primary key. There is no delete and no listing. So
 * the same code runs over an indexer's database, which rolls back when the chain reorganizes, and over a map in memory.
 * A store answers without waiting. Rows of a database are read in advance (see `LoadedRows`).
 */
export type Store = {
  /** The row, or null. The caller must not change what it gets. */
  get<T extends TableName>(table: T, id: string): Row<T> | null;
  /** Adds a row; its id must be new. */
  insert<T extends TableName>(table: T, row: Row<T>): void;
  /**
   * Writes a whole row, new or not. It costs less than an update, which copies the row. The caller must not change the
   * row afterwards.
   */
  put<T extends TableName>(table: T, row: Row<T>): void;
  /** Changes some columns of a row that exists. */
  update<T extends TableName>(table: T, id: string, change: Partial<Omit<Row<T>, "id">>): void;
};
