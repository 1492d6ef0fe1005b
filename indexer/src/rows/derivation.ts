import { apply } from "../derive/apply.ts";
import type { DeriveEvent } from "../derive/events.ts";
import { STATE_ID } from "../derive/stateId.ts";
import type { ApplyOptions } from "../derive/step.ts";
import type { Answer, Store } from "../derive/store.ts";
import type { Row, TableName } from "../derive/tables.ts";
import { KnownRows } from "./knownRows.ts";
import { type RowChange, Transaction } from "./transaction.ts";

/** What the derivation needs of a database, by table and primary key. */
export type RowDatabase = {
  find<T extends TableName>(table: T, id: string): Promise<Row<T> | null>;
  insert<T extends TableName>(table: T, row: Row<T>): Promise<void>;
  update<T extends TableName>(table: T, row: Row<T>): Promise<void>;
  /** Whether the log has an event at this position. */
  hasEvent(position: string): Promise<boolean>;
  /** Told once, before the first event. */
  begin(): Promise<void>;
};

/** Where an event stands: `position` sorts as the log does, `block` is the hash of its block. */
export type EventPlace = { position: string; block: string };

/**
 * The derivation over a database that may go back: to the fork of a chain that was reorganized, or to where a transaction
 * began that failed. Rows stay at hand between events, for as long as the event applied last is still in the log.
 */
export class Derivation {
  readonly #rows: KnownRows;
  /** The event applied last, null before the first. */
  #last: EventPlace | null = null;

  constructor(rows = new KnownRows()) {
    this.#rows = rows;
  }

  /**
   * Applies an event and writes what it changes, each row once. It must be in the log by then.
   *
   * @param place where it stands; later than any event that was applied before, unless the database went back
   */
  async apply(
    database: RowDatabase,
    event: DeriveEvent,
    place: EventPlace,
    options: ApplyOptions = {},
  ): Promise<readonly RowChange[]> {
    await this.#checkPast(database, place);
    const transaction = new Transaction(this.#storeOn(database));
    await apply(transaction, event, options);
    const changes = transaction.changes();
    for (const { table, before, after } of changes) {
      if (before === null) await database.insert(table, after);
      else await database.update(table, after);
    }
    this.#rows.wrote(changes);
    this.#last = place;
    return changes;
  }

  async #checkPast(database: RowDatabase, place: EventPlace): Promise<void> {
    if (this.#last === null) {
      await database.begin();
      if ((await database.find("state", STATE_ID)) === null) this.#rows.startEmpty();
    } else if (!(await isPast(database, this.#last, place))) {
      this.#rows.forget();
    }
  }

  #storeOn(database: RowDatabase): Pick<Store, "get"> {
    return {
      get: <T extends TableName>(table: T, id: string): Answer<Row<T> | null> => {
        const row = this.#rows.get(table, id);
        return row === undefined ? this.#fetch(database, table, id) : row;
      },
    };
  }

  async #fetch<T extends TableName>(database: RowDatabase, table: T, id: string): Promise<Row<T> | null> {
    const row = await database.find(table, id);
    this.#rows.read(table, id, row);
    return row;
  }
}

/**
 * Whether the event applied last is part of the past of the next. A database that goes back is given the events from there
 * on again, so the first of them does not come after the last one; or, after a reorganization, it does, in another block,
 * and then the last one is gone from the log.
 */
async function isPast(database: RowDatabase, last: EventPlace, next: EventPlace): Promise<boolean> {
  if (next.position <= last.position) return false;
  return next.block === last.block || (await database.hasEvent(last.position));
}
