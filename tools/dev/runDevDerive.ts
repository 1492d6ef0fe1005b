import { readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { styleText } from "node:util";
import type { Snapshot } from "tallystick-derive/snapshot";
import { TallystickError } from "tallystick-protocol/errors";
import type { DeriveOptions } from "../../scripts/cli/deriveOptions.ts";
import { childEnvironment } from "../../scripts/processes/childEnvironment.ts";
import { logTail } from "../../scripts/processes/logTail.ts";
import { compiledOnce, nodeProgram } from "../../scripts/processes/nodeProgram.ts";
import { runToEnd } from "../../scripts/processes/runToEnd.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { count, describeChanges } from "./describeChanges.ts";
import { type Round, repeatOnChange } from "./repeatOnChange.ts";
import { type SnapshotChanges, snapshotChanges } from "./snapshotChanges.ts";

export type DevDeriveOptions = DeriveOptions & { json?: boolean; show: number };

/** The folders of the derivation's code. */
const WATCHED = ["packages/derive", "packages/protocol"];

const NOTHING: Snapshot = { asOf: { block: 0, time: 0 }, agents: {}, clusters: {}, digest: null };

/** One run, as a line of `--json`: the changes since the last successful run, or the error of this run. */
export type DeriveRound = { run: number; changed: string[] } & (SnapshotChanges | { error: string });

/**
 * Derives a log, and derives it again whenever the log or the code changes. Prints the changes since the
 * previous run. Ends on a signal.
 *
 * @returns the exit code
 */
export async function runDevDerive(file: string, options: DevDeriveOptions): Promise<number> {
  const { json = false, show, ...how } = options;
  const log = path.resolve(file);
  const print = (text: string) => void process.stdout.write(`${text}\n`);
  let before: Snapshot | undefined;
  let run = 0;

  return await repeatOnChange([...WATCHED.map((it) => path.join(repositoryRoot, it)), log], async (round) => {
    run++;
    const changed = round.changed.map(shortPath);
    const snapshot = await derive(log, how, run, round);
    if (json) {
      const said =
        typeof snapshot === "string" ? { error: snapshot } : snapshotChanges(before ?? NOTHING, snapshot);
      const line: DeriveRound = { run, changed, ...said };
      print(JSON.stringify(line));
    } else {
      if (run > 1) print(`\n${styleText("bold", `Changed: ${changed.join(", ")}`)}`);
      if (typeof snapshot === "string") print(snapshot);
      else if (before === undefined) print(describeFirst(snapshot));
      else print(describeChanges(snapshotChanges(before, snapshot), show));
    }
    if (typeof snapshot !== "string") before = snapshot;
  });
}

/** @returns the snapshot, or the error text if the derivation failed */
async function derive(
  log: string,
  how: DeriveOptions,
  run: number,
  { supervisor, folder, signal }: Round,
): Promise<Snapshot | string> {
  const result = path.join(folder, `${run}.json`);
  const logFile = path.join(folder, `${run}.log`);
  const args = nodeProgram("tools/dev/deriveOnce.ts", [log, result, JSON.stringify(how)]);
  const [name, command, env] = ["derive", process.execPath, childEnvironment(compiledOnce)];
  try {
    await runToEnd(supervisor, { name, command, args, cwd: repositoryRoot, env, logFile });
  } catch (error) {
    if (signal.aborted || !(error instanceof TallystickError) || error.code !== "service_failed") throw error;
    return logTail(logFile, 30) || error.message;
  }
  const text = readFileSync(result, "utf8");
  rmSync(result);
  return JSON.parse(text);
}

function describeFirst({ agents, clusters, asOf, digest }: Snapshot): string {
  const sizes = `${count(Object.keys(agents).length, "agent")}, ${count(Object.keys(clusters).length, "cluster")}`;
  return `${sizes} · block ${asOf.block} · digest ${digest}\nWaiting for changes of the log, packages/derive and packages/protocol.`;
}

function shortPath(file: string): string {
  const inside = path.relative(repositoryRoot, file);
  return inside.startsWith("..") ? file : inside;
}
