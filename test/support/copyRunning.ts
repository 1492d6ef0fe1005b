import { copyFile, mkdir, readdir } from "node:fs/promises";
import path from "node:path";

/**
 * Copies a folder into which a running service writes, as rsync does. A service replaces a file by renaming a new one,
 * so a listed file may be gone before its turn comes. Such a file is left out. `fs.cp` would fail.
 */
export async function copyRunning(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) await copyRunning(source, target);
    else if (entry.isFile()) await copyFile(source, target).catch(unlessGone);
  }
}

function unlessGone(error: NodeJS.ErrnoException): void {
  if (error.code !== "ENOENT") throw error;
}
