import path from "node:path";
import { DatabaseSync } from "node:sqlite";
import { TallystickError } from "tallystick-protocol/errors";
import { isOfTheDisk } from "./isOfTheDisk.ts";

/** SQLite's primary result codes for a file that is damaged, or is no database. */
const OF_DAMAGE: readonly number[] = [11, 26];

/** SQLite's primary result code for an input or output error. A full disk and missing permissions may give it too. */
const IO_ERROR = 10;

export type DatabaseFile = {
  /** The folder of the ledger. Without a folder, the database is in memory. */
  folder: string | undefined;
  name: string;
  /** The statements that make the tables which are missing. */
  tables: string;
  /** A sentence that says what is lost with the file. */
  loss: string;
  /** Changes what an earlier version stored. */
  migrate?: (database: DatabaseSync) => void;
};

/**
 * Opens a database beside the ledger. Nothing can make its rows again, so a damaged file is not replaced.
 *
 * @throws TallystickError `database_damaged`; `database_unavailable` when the disk refuses, for example because it is full,
 * or fails
 */
export function openDatabase({ folder, name, tables, loss, migrate }: DatabaseFile): DatabaseSync {
  const file = folder === undefined ? ":memory:" : path.join(folder, name);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file);
    database.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; ${tables}`);
    migrate?.(database);
    return database;
  } catch (error) {
    database?.close();
    const { errcode } = error as { errcode?: number };
    if (isOfTheDisk(error))
      throw new TallystickError({
        code: "database_unavailable",
        message: `${file} cannot be opened or brought up to date: ${(error as Error).message}.`,
        hint:
          errcode !== undefined && (errcode & 0xff) === IO_ERROR
            ? "Check its disk (space, permissions, health), and start the service again. Only if the file is damaged, restore it from a copy that was made while the service was stopped."
            : "Make room on its disk, and let the service read and write there. Then start it again: no row was lost.",
        cause: error,
      });
    if (errcode === undefined || !OF_DAMAGE.includes(errcode & 0xff)) throw error;
    throw new TallystickError({
      code: "database_damaged",
      message: `${file} is damaged: ${(error as Error).message}.`,
      hint:
        "Restore it from a copy that was made while the service was stopped. Without such a copy, move the file away, with" +
        ` its -wal and -shm: the service then begins a new one. ${loss}`,
      cause: error,
    });
  }
}
