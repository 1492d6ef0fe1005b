import { randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { keptHashes } from "tallystick-protocol/merkle/merkleTree";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { LedgerStore, StorePosition } from "../ledger/ledgerStore.ts";
import { DiskList } from "./diskList.ts";

/** Name of the file next to the ledger. While it is open SQLite keeps two more there. */
export const INDEX_FILE = "index.sqlite";

/** Raise it whenever the file's content changes, or how it follows from the entries: older files are made anew. */
const FORMAT = 3;

/** Memory that the database may keep pages in, in KiB. */
const CACHE_KIB = 16_384;

/** Pages that wait before they are put into the database. More at once would cause a noticeable pause. */
const CHECKPOINT_PAGES = 2_000;

/** Entries that go into one transaction. */
const ENTRIES_TOGETHER = 512;

/** Bytes of a line's end as a float, exact below 2^53. */
const NUMBER_BYTES = 8;
const ENDS = 0;
const LEVELS = 1;

export type IndexOptions = {
  /** The ledger's name: it decides which records count. */
  ledger?: LedgerName;
  /** The salt of the fingerprints. New, unless the index is to be compared with another. */
  salt?: string;
};

type Meta = StorePosition & { format: number; ledger: string; salt: string; boot: string; clean: number };

/**
 * What the engine looks up in the ledger, on disk, so that neither memory nor the time of a start grows with the ledger. It
 * is a cache: everything in it follows from the entries before its position, and is committed with that position. It is
 * made anew when it is missing, damaged, of another ledger or of an older format. The same holds after a power failure,
 * since nothing here waits for the disk.
 */
export class IndexDatabase implements Omit<LedgerStore, "clear"> {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #meta: Meta;
  readonly #piece: { get: StatementSync; put: StatementSync };
  readonly #lists = new Map<number, DiskList>();
  readonly #setMeta: StatementSync;
  #changes = 0;

  /** @param folder where its file is; in memory when there is none */
  constructor(folder?: string, options: IndexOptions = {}) {
    this.#file = folder === undefined ? ":memory:" : path.join(folder, INDEX_FILE);
    const kept = folder === undefined ? undefined : openKept(this.#file, options);
    if (!kept && folder !== undefined) removeIndex(folder);
    const { database, meta } = kept ?? create(this.#file, options);
    this.#database = database;
    this.#meta = meta;
    this.#piece = {
      get: this.prepare("SELECT bytes FROM piece WHERE list = ? AND number = ?"),
      put: this.prepare("INSERT OR REPLACE INTO piece VALUES (?, ?, ?)"),
    };
    this.#setMeta = this.prepare('UPDATE meta SET size = ?, "end" = ?, head = ?, clean = ?');
    // After a power failure from here on, nobody may rely on the file. That mark is on disk first.
    this.#write(0);
    this.#database.exec("PRAGMA synchronous = OFF; BEGIN");
  }

  /** Salts the fingerprints of names, so that nobody can make two names with one fingerprint. */
  get salt(): string {
    return this.#meta.salt;
  }

  prepare(sql: string): StatementSync {
    return this.#database.prepare(sql);
  }

  /** What is committed. */
  position(): StorePosition {
    const { size, end, head } = this.#meta;
    return { size, end, head };
  }

  hashes(level: number): DiskList {
    return this.#list(LEVELS + level, 32, keptHashes(this.#meta.size, level));
  }

  ends() {
    const list = this.#list(ENDS, NUMBER_BYTES, this.#meta.size);
    const bytes = Buffer.alloc(NUMBER_BYTES);
    return {
      push: (value: number) => {
        bytes.writeDoubleLE(value);
        list.push(bytes);
      },
      at: (index: number) => Buffer.from(list.at(index).buffer).readDoubleLE(),
    };
  }

  /** Call it when everything of an entry is in, with its position. Many go into one transaction. */
  entryTaken(position: StorePosition): void {
    if (++this.#changes % ENTRIES_TOGETHER === 0) this.commit(position);
  }

  /** Puts everything so far on disk. Throws when the disk refuses; then {@link undo} it. */
  commit(position: StorePosition): void {
    this.#commit(position, 0);
    this.#database.exec("BEGIN");
  }

  #commit(position: StorePosition, clean: 0 | 1): void {
    for (const list of this.#lists.values()) list.write();
    Object.assign(this.#meta, position);
    this.#write(clean);
    this.#database.exec("COMMIT");
    for (const list of this.#lists.values()) list.committed();
  }

  /** Goes back to what is committed. The lists keep what they got since. */
  undo(): void {
    try {
      // After some errors SQLite has done it by itself.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    } finally {
      Object.assign(this.#meta, this.prepare("SELECT * FROM meta").get() as Meta);
      this.#database.exec("BEGIN");
    }
  }

  /** Puts everything on disk, and closes it. */
  close(position?: StorePosition): void {
    try {
      if (position !== undefined && this.#file !== ":memory:") {
        this.#database.exec("PRAGMA wal_autocheckpoint = 0");
        this.#commit(position, 0);
        this.#database.exec("PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)");
        this.#write(1);
      }
    } finally {
      this.#database.close();
    }
  }

  #write(clean: 0 | 1): void {
    const { size, end, head } = this.#meta;
    this.#setMeta.run(size, end, head, clean);
  }

  #list(list: number, width: number, length: number): DiskList {
    const known = this.#lists.get(list);
    if (known) return known;
    const made = new DiskList(this.#piece, { list, width, length });
    this.#lists.set(list, made);
    return made;
  }
}

/** Deletes an index. The next opening makes a new one. */
export function removeIndex(folder: string): void {
  for (const suffix of ["", "-wal", "-shm"])
    rmSync(path.join(folder, `${INDEX_FILE}${suffix}`), { force: true });
}

/** Opens an index that can be trusted; undefined when there is none. */
function openKept(
  file: string,
  { ledger = "local" }: IndexOptions,
): { database: DatabaseSync; meta: Meta } | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = open(file);
    const meta = { ...database.prepare("SELECT * FROM meta").get() } as Meta;
    const isSound = meta.clean === 1 || (meta.boot !== "" && meta.boot === bootId());
    if (meta.format === FORMAT && meta.ledger === ledger && isSound) {
      const boot = bootId();
      database.prepare("UPDATE meta SET boot = ?").run(boot);
      return { database, meta: { ...meta, boot } };
    }
  } catch {
    // Missing or damaged: both are treated alike.
  }
  database?.close();
  return undefined;
}

function create(
  file: string,
  { ledger = "local", salt }: IndexOptions,
): { database: DatabaseSync; meta: Meta } {
  const database = open(file);
  const meta: Meta = {
    format: FORMAT,
    ledger,
    salt: salt ?? randomBytes(16).toString("hex"),
    boot: bootId(),
    clean: 0,
    size: 0,
    end: 0,
    head: "",
  };
  try {
    database.exec(`BEGIN; ${SCHEMA}; COMMIT`);
    database
      .prepare("INSERT INTO meta VALUES (:format, :ledger, :salt, :boot, :clean, :size, :end, :head)")
      .run(meta);
    return { database, meta };
  } catch (error) {
    database.close();
    throw error;
  }
}

function open(file: string): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec(
      `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB};
       PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = 67108864`,
    );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The time since the machine started; "" where it cannot be told. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/** Names are keys as UTF-16: a lone surrogate is a character of its own there, which SQLite's text cannot hold. */
export function nameKey(name: string): Buffer {
  return Buffer.from(name, "utf16le");
}

/** The tables that follow from the entries, and what they are ordered by. */
export const TABLES = {
  position: "key",
  earlier: "at",
  state: "name",
  listing: "offer",
  task: "name",
  stake: "task, proposal",
  vote: "task, proposal, signer",
  review: "proposal",
  release: "review",
  action: "at",
  note: "name",
  piece: "list, number",
} as const;

const SCHEMA = `
  CREATE TABLE meta (
    format INTEGER, ledger TEXT, salt TEXT, boot TEXT, clean INTEGER, size INTEGER, "end" INTEGER, head TEXT
  );
  CREATE TABLE piece (list INTEGER, number INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (list, number)) WITHOUT ROWID;
  CREATE TABLE position (key INTEGER PRIMARY KEY, at INTEGER NOT NULL);
  CREATE TABLE earlier (at INTEGER PRIMARY KEY, before INTEGER NOT NULL);
  CREATE TABLE action (at INTEGER PRIMARY KEY, time REAL NOT NULL);
  CREATE TABLE note (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
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
