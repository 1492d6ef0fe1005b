import { applyInParts } from "tallystick-derive/apply";
import type { ApplyOptions } from "tallystick-derive/applyContext";
import type { DeriveEvent } from "tallystick-derive/events";
import { type LaterRows, LoadedRows, type RowName } from "tallystick-derive/loadedRows";
import { applyRelevant, type ReadPast } from "tallystick-derive/relevant/applyRelevant";
import { STATE_ID } from "tallystick-derive/stateId";
import type { Row, TableName } from "tallystick-derive/tables";
import { type RowChange, Transaction } from "tallystick-derive/transaction";
import { TallystickError } from "tallystick-protocol/errors";
import { type KeyedLine, keyedLines, positionKey } from "../positionKey.ts";
import { paymentOfTransfer } from "../transferOfPayment.ts";
import { RowCache } from "./rowCache.ts";

/** What the projector needs from a database, by table and primary key. */
export type RowDatabase = {
  find<T extends TableName>(table: T, id: string): Promise<Row<T> | null>;
  insert<T extends TableName>(table: T, rows: Row<T>[]): Promise<void>;
  /** Replaces an existing row; `before` and `after` have one id. */
  update<T extends TableName>(table: T, before: Row<T>, after: Row<T>): Promise<void>;
  /** Stores events that no row contains. */
  logEvents(events: { position: string; event: DeriveEvent }[]): Promise<void>;
  /** Whether an event is in the log, either as the payment that it became or at its own position. */
  isLogged(event: LoggedEvent): Promise<boolean>;
  /** Called before events are applied, and again each time, until the first event is in the log. */
  begin(): Promise<void>;
};

/**
 * The form of an event in the log: the payment that it became, or a line at its position. `position` sorts
 * like the log.
 */
export type LoggedEvent = { position: string; payment: Row<"payment"> | null };

/** The result of applying events. */
export type Applied = {
  /** The new lines of the log, with their keys. */
  lines: readonly KeyedLine[];
  /** The changes of all events together, and the changes of each event. */
  together: readonly RowChange[];
  each: (readonly RowChange[])[];
};

/** Whether the chain still has a block, by its hash. */
export type IsOnChain = (block: string) => Promise<boolean>;

/** The event applied last in a block, and the hash of the block. */
type AppliedLast = LoggedEvent & { block: string };

const NOTHING: Applied = { lines: [], together: [], each: [] };

/**
 * So many rows are asked for together. Ponder keeps waiting reads in a list and removes them at its front, and for a
 * very long list each removal moves the whole list.
 */
const READ_TOGETHER = 1_000;

/**
 * Applies events and writes the rows that they change. The database may go back: to the fork of a reorganized chain, or to the
 * start of a transaction that failed. Rows stay in the cache between events for as long as the last applied event is still in
 * the log. If the database lost an event whose block is still on the chain, nothing more can be applied.
 */
export class Projector {
  readonly #rows: RowCache;
  #forgotten = 0;
  readonly #isOnChain: IsOnChain;
  /** The event applied last, null before the first. */
  #last: AppliedLast | null = null;
  /** The event applied last in an earlier block. Its block was written in full before the next block came. */
  #before: AppliedLast | null = null;

  /** @param isOnChain tells a reorganization from a loss. Default: every missing event was removed by a reorganization */
  constructor(rows = new RowCache(), isOnChain: IsOnChain = async () => false) {
    this.#rows = rows;
    this.#isOnChain = isOnChain;
  }

  /**
   * The rows as they are before an event. Read them inside {@link LoadedRows.run}.
   *
   * @param block the hash of its block; "" for the parameters, which have none
   */
  async rowsBefore(database: RowDatabase, event: DeriveEvent, block: string): Promise<LoadedRows> {
    await this.#checkPast(database, positionKey(event), block);
    return new LoadedRows(this.#rowsOf(database));
  }

  /**
   * Applies events of one block one after the other. Then writes what they changed, each row once, and the events
   * themselves. A transfer that became a payment is not written itself, because the payment's row contains
   * everything.
   *
   * @param events later than any that was applied before, unless the database went back
   * @param block the hash of their block; "" for the parameters, which have none
   * @param read reads earlier transfers from the chain, if the log has only the transfers that matter. Then every line
   * is stored as it is, also a transfer that became a payment. Null if the log has all transfers
   * @param isLast gets the changes of each event. If it returns true, the events after this one are not applied, and
   * `each` may be shorter than `events`
   */
  async apply(
    database: RowDatabase,
    events: readonly DeriveEvent[],
    block: string,
    options: ApplyOptions = {},
    read: ReadPast | null = null,
    isLast: (changes: readonly RowChange[]) => boolean = () => false,
  ): Promise<Applied> {
    const [first] = events;
    if (first === undefined) return NOTHING;
    await this.#checkPast(database, positionKey(first), block);
    const rows = new LoadedRows(this.#rowsOf(database));
    const run = <T>(work: () => T) => rows.run(work);
    const transaction = new Transaction(rows);
    const each: (readonly RowChange[])[] = [];
    const logged: DeriveEvent[] = [];
    for (const event of events) {
      let own = new Transaction(transaction);
      if (read !== null) {
        // This pushes one line at a time. An event may need more than 120,000 lines of the past, and one call cannot take
        // so many arguments.
        for (const line of await applyRelevant(own, event, read, options, run)) logged.push(line);
      } else {
        own = await applyInParts(transaction, event, options, run);
      }
      const changes = own.changes();
      each.push(changes);
      own.commitTo(transaction);
      if (isLast(changes)) break;
    }
    if (read === null) for (const event of events.slice(0, each.length)) logged.push(event);
    // Nothing is logged if all events are transfers that concern no agent.
    if (logged.length === 0) return { ...NOTHING, each };
    const together = transaction.changes();
    await write(database, together);
    const lines = keyedLines(logged);
    const payments = logged.map((event, n) =>
      read === null ? paymentOfTransfer(event, each[n] ?? []) : null,
    );
    await database.logEvents(lines.filter((_, n) => payments[n] === null));
    this.#rows.wrote(together);
    const before = this.#last;
    if (before !== null && before.block !== block && before.position < positionKey(first))
      this.#before = before;
    this.#last = { position: lines.at(-1)?.position ?? "", block, payment: payments.at(-1) ?? null };
    return { lines, together, each };
  }

  /**
   * Forgets the cached rows if the database went back. Two things show this. The next event is not later than the event
   * that was applied last, because the same events come again. Or the event that was applied last is no longer in the
   * log, because a reorganization removed it.
   *
   * @throws TallystickError `database_went_back` if no reorganization explains what is missing
   */
  async #checkPast(database: RowDatabase, position: string, block: string): Promise<void> {
    if (this.#last === null) {
      await database.begin();
      if ((await database.find("state", STATE_ID)) === null) this.#rows.startEmpty();
      return;
    }
    const isPast =
      position > this.#last.position && (block === this.#last.block || (await database.isLogged(this.#last)));
    if (isPast) return;
    await this.#expectNothingLost(database, position);
    this.#rows.forget();
    this.#forgotten++;
  }

  /**
   * Expects that the newest block before this event is in the database, or no longer on the chain. A server that takes
   * over after a failover may lack the last commits of the server before it. Ponder does not notice this: it would go
   * on with the next block, and never apply the lost blocks.
   */
  async #expectNothingLost(database: RowDatabase, position: string): Promise<void> {
    const written = [this.#last, this.#before].find((it) => it !== null && it.position < position) ?? null;
    if (written !== this.#last) this.#before = written;
    if (written === null || (await database.isLogged(written)) || !(await this.#isOnChain(written.block)))
      return;
    throw new TallystickError({
      code: "database_went_back",
      message: `The database lacks block ${Number(written.position.slice(0, 12))}, which this process wrote, and which is still on the chain. The database lost commits, for example by a failover to a server that did not have them.`,
      hint: "Start the indexer again. It continues from what the database has, and nothing is missing then. Make the database's failover wait for its replica (synchronous_commit).",
    });
  }

  /**
   * A count that grows whenever the database went back. Everything that was read from its rows before is then
   * invalid.
   */
  get forgotten(): number {
    return this.#forgotten;
  }

  #rowsOf(database: RowDatabase): LaterRows {
    return {
      get: (table, id) => this.#rows.get(table, id),
      read: async (names) => {
        const rows: (Row<TableName> | null)[] = [];
        for (let at = 0; at < names.length; at += READ_TOGETHER) {
          const part = names.slice(at, at + READ_TOGETHER);
          rows.push(...(await Promise.all(part.map((name) => this.#fetch(database, name)))));
        }
        return rows;
      },
    };
  }

  async #fetch(database: RowDatabase, { table, id }: RowName): Promise<Row<TableName> | null> {
    const row = await database.find(table, id);
    this.#rows.read(table, id, row);
    return row;
  }
}

/** New rows are written one table at a time, changed rows one by one. */
async function write(database: RowDatabase, changes: readonly RowChange[]): Promise<void> {
  const inserted = new Map<TableName, Row<TableName>[]>();
  for (const { table, before, after } of changes) {
    if (before !== null) {
      await database.update(table, before, after);
      continue;
    }
    const rows = inserted.get(table);
    if (rows === undefined) inserted.set(table, [after]);
    else rows.push(after);
  }
  for (const [table, rows] of inserted) await database.insert(table, rows);
}
