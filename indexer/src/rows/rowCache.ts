import { type Row, type TableName, tables } from "tallystick-derive/tables";
import type { RowChange } from "tallystick-derive/transaction";
import { BloomFilter } from "./bloomFilter.ts";
import { READ_AGAIN } from "./readAgain.ts";

/** The size of the filter as a power of two of bits: 16 MiB, enough for ten million rows. */
const LOG2_BITS = 27;

/** The cache keeps at least so many of the rows that were used last, and at most about twice as many. */
const ROWS = 100_000;

/**
 * The same for rows of the tables that the database reads again from memory ({@link READ_AGAIN}). They are most of the rows
 * that events use, and would push out those that take long to read again.
 */
const READ_AGAIN_ROWS = 50_000;

/**
 * The number of payments that the cache keeps. It is smaller, because nearly every receipt is for one of the latest
 * payments. Older payments would only push out other rows.
 */
const PAYMENTS = 25_000;

/**
 * Tables whose rows are seldom read again after they are written. In the cache they would push out other
 * rows.
 */
const WRITTEN_ONCE: ReadonlySet<TableName> = new Set<TableName>([
  "audit",
  "hire",
  "hireKey",
  "receipt",
  "record",
  "seenListing",
]);

const ANSWERED_FROM_MEMORY: ReadonlySet<TableName> = new Set(READ_AGAIN);

/**
 * The rows of the database that were used last, and a filter that knows which other rows exist. So the database is seldom asked
 * for a row, and nearly never for a row that was not written yet.
 */
export class RowCache {
  readonly #keep: { rows: number; readAgain: number; payments: number };
  #rows: LatestRows;
  #readAgain: LatestRows;
  #payments: LatestRows;
  /** Every row written since the database was empty; null when it was not empty in the beginning. */
  #written: BloomFilter | null = null;

  constructor(keep = { rows: ROWS, readAgain: READ_AGAIN_ROWS, payments: PAYMENTS }) {
    this.#keep = keep;
    this.#rows = new LatestRows(keep.rows);
    this.#readAgain = new LatestRows(keep.readAgain);
    this.#payments = new LatestRows(keep.payments);
  }

  /** The row; null when there is none; undefined when only the database knows. */
  get<T extends TableName>(table: T, id: string): Row<T> | null | undefined {
    const row = this.#latest(table).get(table, id);
    if (row !== undefined) return row;
    return this.#written?.mayHave(table, id) === false ? null : undefined;
  }

  /** Takes a row from the database, or the fact that there is none. */
  read<T extends TableName>(table: T, id: string, row: Row<T> | null): void {
    this.#latest(table).put(table, id, row);
  }

  /** Takes what was written to the database. */
  wrote(changes: readonly RowChange[]): void {
    for (const { table, before, after } of changes) {
      if (before === null) this.#written?.add(table, after.id);
      // Forgets what was read of a row, even that the row did not exist.
      if (WRITTEN_ONCE.has(table)) this.#rows.drop(table, after.id);
      else this.#latest(table).put(table, after.id, after);
    }
  }

  /** The database is empty: from here on, a row that was not written does not exist. */
  startEmpty(): void {
    this.forget();
    this.#written = new BloomFilter(LOG2_BITS);
  }

  /**
   * Forgets all rows, because the database has gone back to an earlier state. Rows that no longer exist stay in the filter,
   * which costs a look-up but causes no mistake.
   */
  forget(): void {
    this.#rows = new LatestRows(this.#keep.rows);
    this.#readAgain = new LatestRows(this.#keep.readAgain);
    this.#payments = new LatestRows(this.#keep.payments);
  }

  #latest(table: TableName): LatestRows {
    if (table === "payment") return this.#payments;
    return ANSWERED_FROM_MEMORY.has(table) ? this.#readAgain : this.#rows;
  }
}

/**
 * The rows that were used last, at least so many and about twice as many at most. There are two generations,
 * and the older one is dropped.
 */
class LatestRows {
  readonly #keep: number;
  #young = new Generation();
  #old = new Generation();

  constructor(keep: number) {
    this.#keep = keep;
  }

  get<T extends TableName>(table: T, id: string): Row<T> | null | undefined {
    const young = this.#young.get(table, id);
    if (young !== undefined) return young;
    const old = this.#old.get(table, id);
    if (old !== undefined) this.put(table, id, old);
    return old;
  }

  put<T extends TableName>(table: T, id: string, row: Row<T> | null): void {
    if (this.#young.size >= this.#keep) {
      this.#old = this.#young;
      this.#young = new Generation();
    }
    this.#young.put(table, id, row);
  }

  drop(table: TableName, id: string): void {
    this.#young.drop(table, id);
    this.#old.drop(table, id);
  }
}

class Generation {
  size = 0;
  readonly #tables = Object.fromEntries(Object.keys(tables).map((name) => [name, new Map()])) as {
    [T in TableName]: Map<string, Row<T> | null>;
  };

  get<T extends TableName>(table: T, id: string): Row<T> | null | undefined {
    return (this.#tables[table] as Map<string, Row<T> | null>).get(id);
  }

  put<T extends TableName>(table: T, id: string, row: Row<T> | null): void {
    const rows = this.#tables[table] as Map<string, Row<T> | null>;
    const { size } = rows;
    rows.set(id, row);
    this.size += rows.size - size;
  }

  drop(table: TableName, id: string): void {
    if (this.#tables[table].delete(id)) this.size--;
  }
}
