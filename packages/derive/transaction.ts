import { changed } from "./changed.ts";
import type { Store } from "./store.ts";
import type { Row, TableName } from "./tables.ts";

/** What an event did to one row. `before` is null for a new row. */
export type RowChange<T extends TableName = TableName> = { table: T; before: Row<T> | null; after: Row<T> };

/**
 * A store with the changes of one event on top of `base`. Nothing reaches `base` before the whole event is
 * applied. A row that was changed many times is written once.
 */
export class Transaction implements Store {
  readonly #base: Pick<Store, "get">;
  readonly #tables = new Map<TableName, Map<string, RowChange>>();
  readonly #changes: RowChange[] = [];

  constructor(base: Pick<Store, "get">) {
    this.#base = base;
  }

  get<T extends TableName>(table: T, id: string): Row<T> | null {
    const change = this.#changeOf(table, id);
    return change === undefined ? this.#base.get(table, id) : change.after;
  }

  insert<T extends TableName>(table: T, row: Row<T>): void {
    if (this.#changeOf(table, row.id) !== undefined) {
      throw isThere({ table, after: row });
    }
    this.#add({ table, before: null, after: row });
  }

  put<T extends TableName>(table: T, row: Row<T>): void {
    const known = this.#changeOf(table, row.id);
    if (known !== undefined) known.after = row;
    else this.#add({ table, before: this.#base.get(table, row.id), after: row });
  }

  update<T extends TableName>(table: T, id: string, change: Partial<Omit<Row<T>, "id">>): void {
    const known = this.#changeOf(table, id);
    if (known !== undefined) {
      known.after = changed(known.after, change);
      return;
    }
    const before = this.#base.get(table, id);
    if (before === null) throw new Error(`There is no row ${id} in ${table} to update.`);
    this.#add({ table, before, after: changed(before, change) });
  }

  /**
   * Writes the changes to a store. If that store is a transaction too, it does not read the rows for this.
   */
  commitTo(store: Store): void {
    for (const { table, before, after } of this.#changes) {
      if (store instanceof Transaction) store.#take({ table, before, after });
      else if (before === null) store.insert(table, after);
      else store.put(table, after);
    }
  }

  /** The changes, in the order in which the rows were first changed. */
  changes(): readonly RowChange[] {
    return this.#changes;
  }

  #take(change: RowChange): void {
    const known = this.#changeOf(change.table, change.after.id);
    if (known === undefined) this.#add(change);
    else if (change.before === null) throw isThere(change);
    else known.after = change.after;
  }

  #changeOf<T extends TableName>(table: T, id: string): RowChange<T> | undefined {
    return this.#tables.get(table)?.get(id) as RowChange<T> | undefined;
  }

  #add<T extends TableName>(change: RowChange<T>): void {
    const rows = this.#tables.get(change.table) ?? new Map<string, RowChange>();
    this.#tables.set(change.table, rows);
    rows.set(change.after.id, change as unknown as RowChange);
    this.#changes.push(change as unknown as RowChange);
  }
}

function isThere({ table, after }: Pick<RowChange, "table" | "after">): Error {
  return new Error(`The row ${after.id} is in ${table} already.`);
}
