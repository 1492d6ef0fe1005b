import type { DatabaseSync } from "node:sqlite";
import { TallystickError } from "tallystick-protocol/errors";
import { isOfTheDisk } from "./isOfTheDisk.ts";

/** The time in seconds after which a refused caller should ask again. */
const RETRY_AFTER = "60";

/**
 * Runs work in a transaction, and returns its result. The work happens wholly or not at all, also when the disk is full
 * or the process is killed.
 *
 * @throws TallystickError `disk_unavailable` (503) when the disk refuses; whatever the work throws
 */
export function inTransaction<Result>(database: DatabaseSync, work: () => Result): Result {
  try {
    database.exec("BEGIN IMMEDIATE");
    const result = work();
    database.exec("COMMIT");
    return result;
  } catch (error) {
    // After some errors, such as that of a full disk, SQLite has already rolled back.
    if (database.isTransaction) database.exec("ROLLBACK");
    throw asAnswer(error);
  }
}

function asAnswer(error: unknown): unknown {
  if (!isOfTheDisk(error)) return error;
  return new TallystickError({
    code: "disk_unavailable",
    message: `The disk of this node refuses writes: ${(error as Error).message}.`,
    hint: "Nothing changed. Send it again later, or use another node. Its operator makes room on the disk of LEDGER_DIR.",
    details: { headers: { "retry-after": RETRY_AFTER } },
    cause: error,
  });
}
