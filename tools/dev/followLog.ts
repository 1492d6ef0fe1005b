import { existsSync, readFileSync, watch } from "node:fs";

/**
 * Passes on what is in a file, and what is appended to it, as it comes.
 *
 * @param file is there already
 * @returns passes on what has come since, and stops
 */
export function followLog(file: string, write: (text: string) => void): () => void {
  let length = 0;
  const read = () => {
    // Whoever removes the file has no need of its last words.
    if (!existsSync(file)) return;
    const bytes = readFileSync(file);
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
