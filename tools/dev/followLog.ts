import { readFileSync, watch } from "node:fs";

/**
 * Passes on what is in a file, and what is appended to it, as it comes.
 *
 * @param file is there already
 * @returns passes on what has come since, and stops
 */
export function followLog(file: string, write: (text: string) => void): () => void {
  let length = 0;
  const read = () => {
    const bytes = bytesOf(file);
    if (bytes === undefined) return;
    if (bytes.length > length) write(bytes.subarray(length).toString("utf8"));
    length = bytes.length;
  };
  const watcher = watch(file, read);
  read();
  return () => {
    watcher.close();
    read();
  };
}

/** Undefined once the file is removed, which may happen at any moment: whoever removes it has no need of its last words. */
function bytesOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
