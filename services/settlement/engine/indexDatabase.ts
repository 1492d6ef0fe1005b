import { randomBytes } from "node:crypto";
import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { keptHashes } from "tallystick-protocol/merkle/merkleTree";
import type { LedgerName } from "tallystick-protocol/records/ledgerName";
import type { LedgerStore, StorePosition } from "../ledger/ledgerStore.ts";
import { DiskList, lengthOf } from "./diskList.ts";

/** Name of the file next to the ledger. While it is open, SQLite keeps two more files there. */
export const INDEX_FILE = "index.sqlite";

/** Raise this number when the tables change, or when the same entries give other rows. Older files are made again. */
const FORMAT = 6;

/** Memory for the pages of the database, in KiB. */
const CACHE_KIB = 16_384;
const SCRATCH_CACHE_KIB = 49_152;

/**
 * The number of pages in the log before they are moved into the database. More pages would cause a noticeable
 * pause.
 */
const CHECKPOINT_PAGES = 2_000;

/** The number of entries in one transaction. */
const ENTRIES_TOGETHER = 512;
const SCRATCH_ENTRIES_TOGETHER = 16_384;

/** The size of one position of a line's end, in bytes. The position is a float, exact below 2^53. */
const NUMBER_BYTES = 8;
const HASH_BYTES = 32;
const ENDS = 0;
const LEVELS = 1;

export type IndexOptions = {
  /** The ledger's name. It decides which records count. */
  ledger?: LedgerName;
  /**
   * The salt of the fingerprints. Default: a new one. An index that is compared with another needs the same
   * salt.
   */
  salt?: string;
  /**
   * Whether the file is for a comparison only. Then it need not survive a power failure, so it is written
   * faster.
   */
  isScratch?: boolean;
};

type Meta = StorePosition & { format: number; ledger: string; salt: string; boot: string; clean: number };

/**
 * The engine's look-up tables, on disk, so that memory and the time of a start do not grow with the ledger.
 * It is a cache: everything in it follows from the entries before its position, and is committed together
 * with that position. It is made again when it is missing, damaged, of another ledger or of an older format.
 * It is also made again after a power failure, because writes to it do not wait for the disk.
 */
export class IndexDatabase implements Omit<LedgerStore, "clear"> {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #meta: Meta;
  readonly #piece: { get: StatementSync; put: StatementSync };
  readonly #lists = new Map<number, DiskList>();
  readonly #setMeta: StatementSync;
  readonly #together: number;
  #changes = 0;

  /** @param folder the folder of its file. Without a folder, the index is in memory */
  constructor(folder?: string, options: IndexOptions = {}) {
    this.#file = folder === undefined ? ":memory:" : path.join(folder, INDEX_FILE);
    const kept = folder === undefined ? undefined : openKept(this.#file, options);
    if (!kept && folder !== undefined) removeIndex(folder);
    const { database, meta } = kept ?? create(this.#file, options);
    this.#database = database;
    this.#meta = meta;
    this.#together = options.isScratch ? SCRATCH_ENTRIES_TOGETHER : ENTRIES_TOGETHER;
    this.#piece = {
      get: this.prepare("SELECT bytes FROM piece WHERE list = ? AND number = ?"),
      put: this.prepare("INSERT OR REPLACE INTO piece VALUES (?, ?, ?)"),
    };
    this.#setMeta = this.prepare('UPDATE meta SET size = ?, "end" = ?, head = ?, clean = ?');
    // This mark is on disk before any change. After a power failure it shows that nobody may rely on the
    // file.
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

  /** The committed position. */
  position(): StorePosition {
    const { size, end, head } = this.#meta;
    return { size, end, head };
  }

  hashes(level: number): DiskList {
    return this.#list(LEVELS + level, HASH_BYTES, keptHashes(this.#meta.size, level));
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

  /**
   * Call this with the position when everything of an entry was added. Many entries go into one transaction.
   */
  entryTaken(position: StorePosition): void {
    if (++this.#changes % this.#together === 0) this.commit(position);
  }

  /** Commits everything to disk. Throws when the disk refuses; then call {@link undo}. */
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

  /** Goes back to the committed state. The lists keep what was added since then. */
  undo(): void {
    try {
      // After some errors SQLite has already rolled back.
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
    } finally {
      Object.assign(this.#meta, this.prepare("SELECT * FROM meta").get() as Meta);
      this.#database.exec("BEGIN");
    }
  }

  /** With a position, commits everything and waits for the disk. Then closes the database. */
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

/** Opens an index if it can be trusted; undefined otherwise. */
function openKept(
  file: string,
  { ledger = "local" }: IndexOptions,
): { database: DatabaseSync; meta: Meta } | undefined {
  let database: DatabaseSync | undefined;
  try {
    database = open(file);
    const meta = { ...database.prepare("SELECT * FROM meta").get() } as Meta;
    const boot = bootId();
    const isSound = meta.clean === 1 || (meta.boot !== "" && meta.boot === boot);
    if (isSound && meta.ledger === ledger && meta.format === FORMAT && isWhole(database, meta)) {
      database.prepare("UPDATE meta SET boot = ?").run(boot);
      return { database, meta: { ...meta, boot } };
    }
  } catch {
    // A missing file and a damaged file are treated in the same way.
  }
  database?.close();
  return undefined;
}

/**
 * Whether a file has exactly the tables that this service makes. Something else could be, for example, a
 * trigger that changes rows. It also checks that the length of the lists fits the position, because with a
 * wrong position entries would be added twice, or never.
 */
function isWhole(database: DatabaseSync, { size }: Meta): boolean {
  const expected = new DatabaseSync(":memory:");
  try {
    expected.exec(SCHEMA);
    if (schemaOf(database) !== schemaOf(expected)) return false;
  } finally {
    expected.close();
  }
  const { meta } = database.prepare("SELECT count(*) AS meta FROM meta").get() as { meta: number };
  if (meta !== 1 || !Number.isSafeInteger(size) || size < 0) return false;
  const last = database.prepare(
    "SELECT number, bytes FROM piece WHERE list = ? ORDER BY number DESC LIMIT 1",
  );
  const lists: [list: number, width: number][] = [
    [ENDS, NUMBER_BYTES],
    [LEVELS, HASH_BYTES],
  ];
  return lists.every(([list, width]) => {
    const piece = last.get(list) as { number: number; bytes: Uint8Array } | undefined;
    return lengthOf(piece, width) === size;
  });
}

/**
 * The parts of a database: tables, indexes, triggers, views. `of` is the name under which the database is
 * attached.
 */
export function schemaOf(database: DatabaseSync, of = "main"): string {
  const parts = database
    .prepare(`SELECT type, name, tbl_name, sql FROM ${of}.sqlite_schema ORDER BY name`)
    .all();
  return JSON.stringify(parts).replaceAll(/(?:\\n|\s)+/g, " ");
}

function create(
  file: string,
  { ledger = "local", salt, isScratch = false }: IndexOptions,
): { database: DatabaseSync; meta: Meta } {
  const database = open(file, isScratch);
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

function open(file: string, isScratch = false): DatabaseSync {
  const database = new DatabaseSync(file);
  try {
    database.exec(
      isScratch
        ? `PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -${SCRATCH_CACHE_KIB}`
        : `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA cache_size = -${CACHE_KIB};
           PRAGMA trusted_schema = OFF;
           PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}; PRAGMA journal_size_limit = 67108864`,
    );
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/** The id that the kernel makes at each start of the machine; "" if it is unknown. */
function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return "";
  }
}

/**
 * Names are stored as UTF-16 bytes, because they may have lone surrogates, and SQLite's text cannot hold
 * these.
 */
export function nameKey(name: string): Buffer {
  return Buffer.from(name, "utf16le");
}

/** The tables that follow from the entries, each with its primary key. */
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

/** The indexes that look-ups use, and the columns of each. */
export const INDEXES = {
  action_time: { table: "action", columns: "time, at" },
  stake_order: { table: "stake", columns: "task, at, proposal" },
  vote_order: { table: "vote", columns: "task, proposal, kind, at, signer" },
  release_open: { table: "release", columns: "review", only: "at IS NULL" },
} as const;

const SCHEMA = `
  CREATE TABLE meta (
    format INTEGER, ledger TEXT, salt TEXT, boot TEXT, clean INTEGER, size INTEGER, "end" INTEGER, head TEXT
  );
  CREATE TABLE piece (list INTEGER, number INTEGER, bytes BLOB NOT NULL, PRIMARY KEY (list, number)) WITHOUT ROWID;
  CREATE TABLE position (key INTEGER PRIMARY KEY, at INTEGER NOT NULL);
  CREATE TABLE earlier (at INTEGER PRIMARY KEY, before INTEGER NOT NULL);
  CREATE TABLE action (at INTEGER PRIMARY KEY, time REAL NOT NULL);
  CREATE INDEX action_time ON action (time);
  CREATE TABLE note (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE state (name BLOB PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE listing (offer BLOB PRIMARY KEY, issued_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE task (name BLOB PRIMARY KEY, final TEXT NOT NULL, final_at INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE stake (
    task BLOB, proposal TEXT, staker TEXT NOT NULL, at INTEGER NOT NULL, time REAL NOT NULL,
    verifies INTEGER NOT NULL DEFAULT 0, contests INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (task, proposal)
  ) WITHOUT ROWID;
  CREATE INDEX stake_order ON stake (task, at);
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
