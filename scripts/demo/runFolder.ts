import { mkdir, readdir, rm, stat } from "node:fs/promises";
import path from "node:path";
import { repositoryRoot } from "../repositoryRoot.ts";

const RUNS = path.join(repositoryRoot, ".tallystick", "demo");

/** Runs that were killed, or that failed and left their logs, are kept this long. */
const KEPT_MS = 24 * 3_600_000;

/** Makes the folder of one run, named after this process, and clears away old ones whose process is gone. */
export async function createRunFolder(): Promise<string> {
  await mkdir(RUNS, { recursive: true });
  for (const name of await readdir(RUNS)) {
    const folder = path.join(RUNS, name);
    const age = Date.now() - (await stat(folder)).mtimeMs;
    if (age > KEPT_MS && !isAlive(Number(name))) await rm(folder, { recursive: true, force: true });
  }
  const folder = path.join(RUNS, String(process.pid));
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder);
  return folder;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
