import { readFile } from "node:fs/promises";
import path from "node:path";

/** A server that runs on a data folder, by its own statement. */
export type RunningServer = { pid: number; port: number };

/**
 * Reads `postmaster.pid` of a data folder (PostgreSQL: line 1 is the pid, line 4 the port).
 *
 * @returns undefined when there is none, when it is not complete, or when its process is gone
 */
export async function runningServer(dataFolder: string): Promise<RunningServer | undefined> {
  const text = await readFile(path.join(dataFolder, "postmaster.pid"), "utf8").catch(() => "");
  const lines = text.split("\n");
  const [pid, port] = [Number(lines[0]), Number(lines[3])];
  if (!Number.isInteger(pid) || pid <= 0 || !Number.isInteger(port) || port <= 0) return undefined;
  try {
    process.kill(pid, 0);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ESRCH") return undefined;
  }
  return { pid, port };
}
