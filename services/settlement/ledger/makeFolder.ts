import { mkdir } from "node:fs/promises";
import path from "node:path";
import { keepOwner } from "./keepOwner.ts";
import { syncFolder } from "./syncFolder.ts";

/** If we may not or cannot sync a folder, somebody else made it long ago. */
const NOT_OURS = ["EACCES", "EPERM", "EROFS", "EINVAL", "ENOTSUP", "ENOSYS"];

/**
 * Creates a folder, and the missing ones above it. When this resolves, their names are on disk, even if an earlier process
 * created them and ended right then. Otherwise a power failure could remove the folder with everything in it.
 */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(path.resolve(folder), { recursive: true });
  if (first !== undefined) for (const made of foldersFrom(first, folder)) await keepOwner(made);
  for (let at = path.resolve(folder); at !== path.dirname(at); at = path.dirname(at)) {
    try {
      await syncFolder(path.dirname(at));
    } catch (error) {
      if (NOT_OURS.includes((error as NodeJS.ErrnoException).code ?? "")) return;
      throw error;
    }
  }
}

/** The folders from `first`, which is above `last` or is `last` itself, down to `last`. */
function foldersFrom(first: string, last: string): string[] {
  const folders = [path.resolve(last)];
  for (let at = path.resolve(last); at !== path.resolve(first); at = path.dirname(at))
    folders.unshift(path.dirname(at));
  return folders;
}
