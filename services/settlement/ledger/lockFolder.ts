import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { tryLock } from "fs-native-extensions";
import { TallystickError } from "tallystick-protocol/errors";
import { makeFolder } from "./makeFolder.ts";

/** Releases the lock. The operating system also releases it when the process ends, for any reason. */
export type ReleaseLock = () => Promise<void>;

/**
 * Takes the lock of a ledger's folder and creates the folder if needed: a ledger has one writer.
 *
 * @throws TallystickError `ledger_locked` when another process holds it; `ledger_unavailable` when the folder cannot be
 * made or written
 */
export async function lockFolder(folder: string): Promise<ReleaseLock> {
  const file = await openLock(folder);
  if (!tryLock(file.fd)) {
    await file.close();
    throw new TallystickError({
      code: "ledger_locked",
      message: `Another process writes the ledger in ${folder}.`,
      hint: "Stop the other process, or give this one its own folder (LEDGER_DIR, MIRROR_DIR).",
    });
  }
  return () => file.close();
}

async function openLock(folder: string): Promise<FileHandle> {
  try {
    await makeFolder(folder);
    return await open(path.join(folder, "ledger.lock"), "a");
  } catch (cause) {
    throw new TallystickError({
      code: "ledger_unavailable",
      message: `The ledger's folder cannot be written: ${(cause as Error).message}.`,
      hint: "Check its permissions and the file system, or set LEDGER_DIR. To read a ledger: tallystick verify-ledger FILE.",
      cause,
    });
  }
}
