import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import type { Hex } from "tallystick-protocol/hex";
import { repositoryRoot } from "../repositoryRoot.ts";

const RUNS = path.join(repositoryRoot, ".tallystick", "demo");

/** The file in which a run with `--keep` stores how to reach its node. */
const NODE = "node.json";

/** The data with which other programs of this checkout use a running demo. */
export type KeptNode = {
  pid: number;
  url: string;
  databaseUrl: string;
  databaseSchema: string;
  settlementUrl: string;
  /** The ledger that it follows. */
  ledger: Hex;
};

/** The folders of runs that were killed or failed are kept this long, in milliseconds, for their logs. */
const KEPT_MS = 24 * 3_600_000;

/** Makes the folder of one run, named after this process, and deletes old folders whose process is gone. */
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

/** Tells the other programs of this checkout about the node of a run. */
export async function announceNode(folder: string, node: Omit<KeptNode, "pid">): Promise<void> {
  const { url, databaseUrl, databaseSchema, settlementUrl, ledger } = node;
  const kept: KeptNode = { pid: process.pid, url, databaseUrl, databaseSchema, settlementUrl, ledger };
  const file = path.join(folder, NODE);
  // A reader finds the complete file or none.
  await writeFile(`${file}.new`, JSON.stringify(kept));
  await rename(`${file}.new`, file);
}

/** The nodes of the demos that run from this checkout with `--keep`, the latest first. */
export async function keptNodes(runs = RUNS): Promise<KeptNode[]> {
  const found: { node: KeptNode; since: number }[] = [];
  for (const name of await readdir(runs).catch(() => [])) {
    const file = path.join(runs, name, NODE);
    try {
      const node = JSON.parse(await readFile(file, "utf8")) as KeptNode;
      if (isAlive(node.pid)) found.push({ node, since: (await stat(file)).mtimeMs });
    } catch {
      // A run without `--keep`, or one that is just ending.
    }
  }
  return found.sort((a, b) => b.since - a.since).map(({ node }) => node);
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
