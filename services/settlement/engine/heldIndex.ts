import { rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TallystickError } from "tallystick-protocol/errors";

/** The name of the index's file, in the folder of the file of held proposals. */
export const HELD_INDEX_FILE = "held.sqlite";

/** Raise this number whenever the file's content changes. Files of older formats are made again. */
const FORMAT = 2;

/** Memory for the pages of the database, in KiB. */
const CACHE_KIB = 2_048;

/**
 * A held proposal, and the place of its line in the file. `timestamp` in seconds, `divergence` from 0 to 1.
 */
export type HeldRow = {
  id: string;
  task: string;
  timestamp: number;
  divergence: number;
  start: number;
  length: number;
};

/** The entry of a review: its position in the ledger, and its hash. */
export type ReviewEntry = { index: number; hash: string };

type Statements = ReturnType<typeof prepare>;

/**
 * The places of held proposals in their file, and which of them wait for a review. It is a cache, made from
 * the file and from the ledger's reviews.
 */
export class HeldIndex {
  readonly #folder: string;
  #database!: DatabaseSync;
  #sql!: Statements;
  #size = 0;
  #waiting = 0;

  constructor(folder: string) {
    this.#folder = folder;
    try {
      this.#open();
    } catch {
      // A damaged file, or one of an older format, is made again.
      this.clear();
    }
  }

  /** Deletes the index and makes an empty one. Call this when it does not fit the file of held proposals. */
  clear(): void {
    this.close();
    for (const suffix of ["", "-wal", "-shm"])
      rmSync(path.join(this.#folder, `${HELD_INDEX_FILE}${suffix}`), { force: true });
    this.#do(() => this.#open());
  }

  #open(): void {
    const database = new DatabaseSync(path.join(this.#folder, HELD_INDEX_FILE));
    this.#database = database;
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB}`);
    const { user_version: format } = database.prepare("PRAGMA user_version").get() as {
      user_version: number;
    };
    if (format === 0) database.exec(`BEGIN; ${SCHEMA}; PRAGMA user_version = ${FORMAT}; COMMIT`);
    else if (format !== FORMAT) throw new Error("another format");
    this.#sql = prepare(database);
    const { size, waiting } = this.#sql.counts.get() as { size: number; waiting: number };
    this.#size = size;
    this.#waiting = waiting;
  }

  get size(): number {
    return this.#size;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** The position after the last line that the index has; 0 without one. */
  get end(): number {
    const last = this.last();
    return last === undefined ? 0 : last.start + last.length;
  }

  last(): HeldRow | undefined {
    return this.#do(({ last }) => last.get() as HeldRow | undefined);
  }

  get(id: string): HeldRow | undefined {
    return this.#do(({ get }) => get.get(id) as HeldRow | undefined);
  }

  /** The last held proposals of a task, the latest first. */
  ofTask(task: string, most: number): HeldRow[] {
    return this.#do(({ ofTask }) => ofTask.all(task, most) as HeldRow[]);
  }

  firstWaiting(most: number): HeldRow[] {
    return this.#do(({ waiting }) => waiting.all(most) as HeldRow[]);
  }

  *allWaiting(): Generator<HeldRow> {
    for (let after = -1; ; ) {
      const rows = this.#do(({ waitingAfter }) => waitingAfter.all(after) as HeldRow[]);
      yield* rows;
      const last = rows.at(-1);
      if (last === undefined) return;
      after = last.start;
    }
  }

  /** Adds a held proposal. All additions up to {@link commit} are one transaction. */
  add({ id, task, timestamp, divergence, start, length }: HeldRow): void {
    const isNew = this.#do((sql) => {
      if (!this.#database.isTransaction) this.#database.exec("BEGIN");
      return sql.add.run({ id, task, timestamp, divergence, start, length }).changes === 1;
    });
    this.#size += Number(isNew);
    this.#waiting += Number(isNew);
  }

  commit(): void {
    if (this.#database.isTransaction) this.#do(() => this.#database.exec("COMMIT"));
  }

  /** Notes the review of a held proposal. {@link commit} stores it, like an addition. */
  reviewed(id: string, { index, hash }: ReviewEntry): void {
    const changed = this.#do((sql) => {
      if (!this.#database.isTransaction) this.#database.exec("BEGIN");
      if (sql.reviewed.run(id).changes === 0) return false;
      sql.noteReview.run(index, hash);
      return true;
    });
    this.#waiting -= Number(changed);
  }

  /** The entry of the noted review that comes last in the ledger. */
  lastReview(): ReviewEntry | undefined {
    return this.#do(({ lastReview }) => lastReview.get() as ReviewEntry | undefined);
  }

  /** Makes all proposals wait again. {@link commit} stores this. */
  forgetReviews(): void {
    this.#do((sql) => {
      if (!this.#database.isTransaction) this.#database.exec("BEGIN");
      sql.allWait.run();
      sql.forgetLast.run();
    });
    this.#waiting = this.#size;
  }

  close(): void {
    if (this.#database?.isOpen) this.#database.close();
  }

  #do<T>(work: (sql: Statements) => T): T {
    try {
      return work(this.#sql);
    } catch (cause) {
      this.#undo();
      const { errstr, message } = cause as { errstr?: string; message: string };
      throw new TallystickError({
        code: "index_unavailable",
        message: `The index of held proposals cannot be used: ${errstr ?? message}.`,
        hint: "The operator checks the disk (space, permissions, health). While the service is stopped, held.sqlite may be deleted.",
        cause,
      });
    }
  }

  #undo(): void {
    try {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      const { size, waiting } = this.#sql.counts.get() as { size: number; waiting: number };
      this.#size = size;
      this.#waiting = waiting;
    } catch {
      // The error was reported already. The next use reports more.
    }
  }
}

function prepare(database: DatabaseSync) {
  const sql = (text: string) => database.prepare(text);
  return {
    get: sql("SELECT * FROM held WHERE id = ?"),
    add: sql(
      "INSERT INTO held VALUES (:id, :task, :timestamp, :divergence, :start, :length, 1) ON CONFLICT DO NOTHING",
    ),
    last: sql("SELECT * FROM held ORDER BY start DESC LIMIT 1"),
    ofTask: sql("SELECT * FROM held WHERE task = ? ORDER BY start DESC LIMIT ?"),
    waiting: sql("SELECT * FROM held WHERE waits = 1 ORDER BY start LIMIT ?"),
    waitingAfter: sql("SELECT * FROM held WHERE waits = 1 AND start > ? ORDER BY start LIMIT 100"),
    reviewed: sql("UPDATE held SET waits = 0 WHERE id = ? AND waits = 1"),
    noteReview: sql(
      "INSERT INTO last_review VALUES (1, ?, ?) ON CONFLICT (one) DO UPDATE" +
        " SET at = excluded.at, hash = excluded.hash WHERE excluded.at > at",
    ),
    lastReview: sql('SELECT at AS "index", hash FROM last_review WHERE one = 1'),
    allWait: sql("UPDATE held SET waits = 1 WHERE waits = 0"),
    forgetLast: sql("DELETE FROM last_review"),
    counts: sql("SELECT count(*) AS size, coalesce(sum(waits), 0) AS waiting FROM held"),
  };
}

const SCHEMA = `
  CREATE TABLE held (
    id TEXT PRIMARY KEY, task TEXT NOT NULL, timestamp REAL NOT NULL, divergence REAL NOT NULL,
    start INTEGER NOT NULL, length INTEGER NOT NULL, waits INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE UNIQUE INDEX held_order ON held (start);
  CREATE INDEX held_task ON held (task, start);
  CREATE INDEX held_waiting ON held (start) WHERE waits = 1;
  CREATE TABLE last_review (one INTEGER PRIMARY KEY, at INTEGER NOT NULL, hash TEXT NOT NULL)`;
