import { readFileSync, watch } from "node:fs";

/**
 * Passes on the contents of a file, and then everything that is appended to it.
 *
 * @param file an existing file
 * @returns a function that passes on the rest and stops
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

/**
 * The contents of the file; undefined if it was removed. Whoever removes the file does not need its last
 * lines.
 */
function bytesOf(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
