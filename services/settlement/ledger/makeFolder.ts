import { mkdir } from "node:fs/promises";
import path from "node:path";
import { syncFolder } from "./syncFolder.ts";

/** Folders that are not ours to sync, or cannot be, were made by somebody else, long ago. */
const NOT_OURS = ["EACCES", "EPERM", "EROFS", "EINVAL", "ENOTSUP", "ENOSYS"];

/**
 * Makes a folder, and those above it that are missing. Its name and theirs are on disk when this resolves, also when an
 * earlier process has made them and ended right then: else a loss of power could take away the folder with all that is in it.
 */
export async function makeFolder(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  for (let at = path.resolve(folder); at !== path.dirname(at); at = path.dirname(at)) {
    try {
      await syncFolder(path.dirname(at));
    } catch (error) {
      if (NOT_OURS.includes((error as NodeJS.ErrnoException).code ?? "")) return;
      throw error;
    }
  }
}
