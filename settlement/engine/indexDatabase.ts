import { rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync } from "node:sqlite";

/** Name of the file beside the ledger. */
export const INDEX_FILE = "index.sqlite";

/** Memory that the database may keep pages in, in KiB. */
const CACHE_KIB = 32_768;

/** Changes that go into one transaction. */
const CHANGES_TOGETHER = 4_096;

/**
 * What the engine looks up in the ledger, on disk, so that memory does not grow with what is written. It is a cache: made
 * anew from the ledger at every start, never relied upon across one, so nothing is waited for and nothing can be restored
 * from it. `entry` says how many entries of the ledger are in it.
 */
export class IndexDatabase {
  readonly #database: DatabaseSync;
  #changes = 0;

  /** @param folder where its file is made; in memory when there is none */
  constructor(folder?: string) {
    const file = folder === undefined ? ":memory:" : path.join(folder, INDEX_FILE);
    if (folder !== undefined) rmSync(file, { force: true });
    this.#database = new DatabaseSync(file);
    this.#database.exec(
      `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA locking_mode = EXCLUSIVE;
       PRAGMA cache_size = -${CACHE_KIB}; ${SCHEMA}; BEGIN`,
    );
  }

  prepare(sql: string) {
    return this.#database.prepare(sql);
  }

  /** Call it after every entry: many go into one transaction. */
  entryTaken(): void {
    if (++this.#changes % CHANGES_TOGETHER === 0) this.#database.exec("COMMIT; BEGIN");
  }

  close(): void {
    this.#database.close();
  }
}

/** Names are keys as UTF-16: a lone surrogate is a character of its own there, which SQLite's text has not. */
export function nameKey(name: string): Buffer {
  return Buffer.from(name, "utf16le");
}

const SCHEMA = `
  CREATE TABLE state (name BLOB PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE listing (offer BLOB PRIMARY KEY, issued_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE task (name BLOB PRIMARY KEY, final TEXT NOT NULL, final_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE stake (
    task BLOB, proposal TEXT, staker TEXT NOT NULL, at INTEGER NOT NULL, time REAL NOT NULL,
    verifies INTEGER NOT NULL DEFAULT 0, contests INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (task, proposal)
  ) WITHOUT ROWID;
  CREATE TABLE vote (
    task BLOB, proposal TEXT, signer TEXT, kind TEXT NOT NULL, at INTEGER NOT NULL,
    PRIMARY KEY (task, proposal, signer)
  ) WITHOUT ROWID;
  CREATE INDEX vote_order ON vote (task, proposal, kind, at);
  CREATE TABLE review (
    proposal TEXT PRIMARY KEY, decision TEXT NOT NULL, hash TEXT NOT NULL, at INTEGER NOT NULL
  ) WITHOUT ROWID;
  CREATE TABLE release (review TEXT PRIMARY KEY, proposal TEXT, at INTEGER) WITHOUT ROWID;
  CREATE INDEX release_open ON release (review) WHERE at IS NULL`;
