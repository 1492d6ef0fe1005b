import { statSync } from "node:fs";

/** The permission of everybody else to read a file (POSIX). */
const OTHERS_READ = 0o004;

/** A note for the operator if everybody on this machine can read the file with the node's keys. */
export function openFileNote(file: string): string | undefined {
  if (process.platform === "win32") return undefined;
  const mode = statSync(file, { throwIfNoEntry: false })?.mode ?? 0;
  if ((mode & OTHERS_READ) === 0) return undefined;
  return `note: everybody on this machine can read the keys in ${file}: chmod 600 ${file}`;
}
