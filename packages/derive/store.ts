import type { Row, TableName } from "./tables.ts";

/** A store in memory answers at once, a database later. */
export type Answer<T> = T | Promise<T>;

/** What `next` makes of an answer: at once when it is there, without the detour of a promise. */
export function after<T, R>(answer: Answer<T>, next: (value: T) => Answer<R>): Answer<R> {
  return answer instanceof Promise ? answer.then(next) : next(answer);
}

/** Does `next` with one item after the other, each when that before is done: at once as far as answers are there. */
export function forEach<T>(items: readonly T[], next: (item: T) => Answer<void>, from = 0): Answer<void> {
  for (let at = from; at < items.length; at++) {
    const done = next(items[at] as T);
    if (done instanceof Promise) return goOn(done, items, next, at + 1);
  }
}

/** Apart, so that the loop above makes no closure where it needs none. */
function goOn<T>(
  done: Promise<void>,
  items: readonly T[],
  next: (item: T) => Answer<void>,
  from: number,
): Promise<void> {
  return done.then(() => forEach(items, next, from));
}

/**
 * All the derivation knows of storage: rows by table and primary key. There is no delete and no listing, so the same code
 * runs over an indexer's database, which rolls back on a reorg, and over a map in memory.
 */
export type Store = {
  /** The row, or null. The caller must not change what it gets. */
  get<T extends TableName>(table: T, id: string): Answer<Row<T> | null>;
  /** Adds a row; its id must be new. */
  insert<T extends TableName>(table: T, row: Row<T>): Answer<void>;
  /** Changes some columns of a row that exists. */
  update<T extends TableName>(table: T, id: string, change: Partial<Omit<Row<T>, "id">>): Answer<void>;
};
