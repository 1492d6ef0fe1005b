import { type FileHandle, mkdir, open } from "node:fs/promises";
import path from "node:path";
import { tryLock } from "fs-native-extensions";
import { TallystickError } from "tallystick-protocol/errors";

/** Releases a lock. The operating system also releases it when the process ends, for any reason. */
export type ReleaseLock = () => Promise<void>;

/** How a program locks its folder. `subfolders` are created too. The error has `code` and `hint`. */
export type FolderLock = {
  file: string;
  program: string;
  subfolders?: readonly string[];
  code: string;
  hint: string;
};

/**
 * Creates a program's folder, which only its user may read, and takes its lock: two programs in one folder would do
 * everything twice.
 *
 * @throws TallystickError with the given code when another process holds the lock, or the folder cannot be written
 */
export async function lockFolder(folder: string, lock: FolderLock): Promise<ReleaseLock> {
  const { code, hint } = lock;
  let file: FileHandle;
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of lock.subfolders ?? []) await mkdir(path.join(folder, name), { recursive: true });
    file = await open(path.join(folder, lock.file), "a");
  } catch (cause) {
    const message = `${folder} cannot be written: ${(cause as Error).message}.`;
    throw new TallystickError({ code, message, hint, cause });
  }
  const release = await lockOpened(file);
  if (release) return release;
  throw new TallystickError({ code, message: `Another ${lock.program} writes ${folder}.`, hint });
}

/** Locks an open file. When another process holds the lock, it closes the file and returns undefined. */
export async function lockOpened(file: FileHandle): Promise<ReleaseLock | undefined> {
  if (tryLock(file.fd)) return () => file.close();
  await file.close();
  return undefined;
}
