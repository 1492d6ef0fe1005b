import type { Store } from "./store.ts";
import type { Row, TableName } from "./tables.ts";

export type RowName = { table: TableName; id: string };

/** The rows of a database. Some are in memory, and the others have to be read. */
export type LaterRows = {
  /** The row, null when there is none, undefined when it has to be read. */
  get<T extends TableName>(table: T, id: string): Row<T> | null | undefined;
  /** Reads rows: one for each name, in their order; null when there is none. */
  read(names: readonly RowName[]): Promise<(Row<TableName> | null)[]>;
};

/**
 * Thrown when a row is not in memory. It is one object, because it is thrown often and nobody reads its
 * stack.
 */
const NOT_AT_HAND = new Error("A row has to be read first. LoadedRows.run reads it and starts again.");

/**
 * Lets synchronous code use the rows of a database. The code runs until it needs a row that is not in memory,
 * and stops there. Then all rows that it asked for are read together, and it runs again from the beginning.
 */
export class LoadedRows implements Pick<Store, "get"> {
  readonly #rows: LaterRows;
  /**
   * The rows that were read. They are kept as long as this object exists, so each attempt gets further than the last.
   */
  readonly #read = new Map<string, Row<TableName> | null>();
  readonly #missing = new Map<string, RowName>();

  constructor(rows: LaterRows) {
    this.#rows = rows;
  }

  /** The row, or null. Only to be called within {@link run}. */
  get<T extends TableName>(table: T, id: string): Row<T> | null {
    const row = this.#rows.get(table, id);
    if (row !== undefined) return row;
    const name = `${table} ${id}`;
    const read = this.#read.get(name) as Row<T> | null | undefined;
    if (read !== undefined) return read;
    this.#missing.set(name, { table, id });
    throw NOT_AT_HAND;
  }

  /**
   * Runs `work` until it has all the rows that it needs.
   *
   * @param work may run many times. An attempt must not see what an earlier attempt changed
   * @throws what `work` throws, if no row was missing in that attempt
   */
  async run<T>(work: () => T): Promise<T> {
    for (;;) {
      try {
        const value = work();
        if (this.#missing.size === 0) return value;
      } catch (error) {
        if (this.#missing.size === 0) throw error;
      }
      const names = [...this.#missing];
      this.#missing.clear();
      const rows = await this.#rows.read(names.map(([, name]) => name));
      for (const [n, [name]] of names.entries()) this.#read.set(name, rows[n] ?? null);
    }
  }
}

/**
 * Calls `next` with each item. If a row is not in memory, it continues with the next item. So one attempt
 * finds all rows that the items need. Then the attempt ends.
 */
export function forEachRow<T>(items: Iterable<T>, next: (item: T) => void): void {
  let isMissing = false;
  for (const item of items) {
    try {
      next(item);
    } catch (error) {
      if (error !== NOT_AT_HAND) throw error;
      isMissing = true;
    }
  }
  if (isMissing) throw NOT_AT_HAND;
}
