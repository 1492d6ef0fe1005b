import { type Answer, after, type Store } from "./store.ts";
import type { Row, TableName } from "./tables.ts";

/** What an event did to one row: `before` is null for a new one. */
export type RowChange<T extends TableName = TableName> = { table: T; before: Row<T> | null; after: Row<T> };

/**
 * The rows as an event finds them, with what it changes on top: nothing reaches `base` before the whole event is applied,
 * and a row that was changed many times over is written once.
 */
export class Transaction implements Store {
  readonly #base: Pick<Store, "get">;
  readonly #tables = new Map<TableName, Map<string, RowChange>>();
  readonly #changes: RowChange[] = [];

  constructor(base: Pick<Store, "get">) {
    this.#base = base;
  }

  get<T extends TableName>(table: T, id: string): Answer<Row<T> | null> {
    const change = this.#changeOf(table, id);
    return change === undefined ? this.#base.get(table, id) : change.after;
  }

  insert<T extends TableName>(table: T, row: Row<T>): void {
    if (this.#changeOf(table, row.id) !== undefined) {
      throw new Error(`The row ${row.id} is in ${table} already.`);
    }
    this.#add({ table, before: null, after: row });
  }

  update<T extends TableName>(table: T, id: string, change: Partial<Omit<Row<T>, "id">>): Answer<void> {
    const known = this.#changeOf(table, id);
    if (known !== undefined) {
      known.after = { ...known.after, ...change };
      return;
    }
    return after(this.#base.get(table, id), (before) => {
      if (before === null) throw new Error(`There is no row ${id} in ${table} to update.`);
      this.#add({ table, before, after: { ...before, ...change } });
    });
  }

  /** Makes the same changes to another store. */
  async commitTo(store: Store): Promise<void> {
    for (const { table, before, after } of this.#changes) {
      if (before === null) await store.insert(table, after);
      else await store.update(table, after.id, after);
    }
  }

  /** What was changed, in the order in which the rows were changed first. */
  changes(): readonly RowChange[] {
    return this.#changes;
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
