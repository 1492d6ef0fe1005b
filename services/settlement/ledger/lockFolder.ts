import { type FileHandle, open } from "node:fs/promises";
import path from "node:path";
import { TallystickError } from "tallystick-protocol/errors";
import { lockOpened, type ReleaseLock } from "tallystick-runtime/processes/lockFolder";
import { keepOwner } from "./keepOwner.ts";
import { makeFolder } from "./makeFolder.ts";

/**
 * Takes the lock of a ledger's folder and creates the folder if needed: a ledger has one writer.
 *
 * @throws TallystickError `ledger_locked` when another process holds it; `ledger_unavailable` when the folder cannot be
 * made or written
 */
export async function lockFolder(folder: string): Promise<ReleaseLock> {
  const release = await lockOpened(await openLock(folder));
  if (release) return release;
  throw new TallystickError({
    code: "ledger_locked",
    message: `Another process writes the ledger in ${folder}.`,
    hint: "Stop the other process, or give this one its own folder (LEDGER_DIR, MIRROR_DIR).",
  });
}

async function openLock(folder: string): Promise<FileHandle> {
  try {
    await makeFolder(folder);
    const file = path.join(folder, "ledger.lock");
    const lock = await open(file, "a");
    await keepOwner(file).catch(async (error) => {
      await lock.close();
      throw error;
    });
    return lock;
  } catch (cause) {
    throw new TallystickError({
      code: "ledger_unavailable",
      message: `The ledger's folder cannot be written: ${(cause as Error).message}.`,
      hint: "Check its permissions and the file system, or name another folder (LEDGER_DIR, MIRROR_DIR). To read a ledger: tallystick verify-ledger FILE.",
      cause,
    });
  }
}
