import { mkdirSync } from "node:fs";
import path from "node:path";
import { DatabaseSync, type StatementSync } from "node:sqlite";

/** The last cosigned checkpoint of one log: its size, its root and the note with the cosignature. */
export type Cosigned = { size: number; root: Uint8Array; note: string };

/** Name of the database in the witness's folder. */
export const WITNESS_FILE = "witness.sqlite";

/** How long one process waits for another that writes, in milliseconds. */
const BUSY_MS = 5_000;

/**
 * The newest cosigned checkpoint of each log, on disk. A witness that forgets it would cosign a second history. Never
 * replace the file by a copy that is older than the witness's last answer.
 */
export class WitnessStore {
  readonly #database: DatabaseSync;
  readonly #get: StatementSync;
  readonly #put: StatementSync;

  /** @param folder made when it is missing */
  constructor(folder: string) {
    mkdirSync(folder, { recursive: true });
    this.#database = new DatabaseSync(path.join(folder, WITNESS_FILE));
    this.#database.exec(`
      PRAGMA busy_timeout = ${BUSY_MS};
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = FULL;
      CREATE TABLE IF NOT EXISTS cosigned (
        origin TEXT PRIMARY KEY, size INTEGER NOT NULL, root BLOB NOT NULL, note TEXT NOT NULL
      ) STRICT;
    `);
    this.#get = this.#database.prepare("SELECT size, root, note FROM cosigned WHERE origin = ?");
    this.#put = this.#database.prepare("INSERT OR REPLACE INTO cosigned VALUES (?, ?, ?, ?)");
  }

  /** The last cosigned checkpoint of a log; undefined without one. */
  get(origin: string): Cosigned | undefined {
    return this.#get.get(origin) as Cosigned | undefined;
  }

  /** Whether nothing was cosigned yet. */
  get isEmpty(): boolean {
    return this.#database.prepare("SELECT 1 FROM cosigned LIMIT 1").get() === undefined;
  }

  /**
   * Reads the last checkpoint and stores the result of `decide`, in one step that no other process can
   * interrupt. It is on disk when this returns. When `decide` throws, nothing is stored.
   */
  update(origin: string, decide: (last: Cosigned | undefined) => Cosigned): Cosigned {
    this.#database.exec("BEGIN IMMEDIATE");
    try {
      const { size, root, note } = decide(this.get(origin));
      this.#put.run(origin, size, root, note);
      this.#database.exec("COMMIT");
      return { size, root, note };
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec("ROLLBACK");
      throw error;
    }
  }

  close(): void {
    this.#database.close();
  }
}
