import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { freePort } from "../../../scripts/processes/freePort.ts";
import type { Supervisor } from "../../../scripts/processes/openSupervisor.ts";
import { ponderInCheckout } from "../../../scripts/processes/ponderInCheckout.ts";
import { ponderSettings } from "../../../scripts/processes/ponderProgram.ts";
import { startService } from "../../../scripts/processes/startService.ts";
import { waitUntil } from "../../../scripts/processes/waitUntil.ts";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import { type LookUps, readLookUps } from "./readLookUps.ts";

/** The time limit of a backfill. */
const PATIENCE_MS = 3_600_000;

export type BackfillFigures = {
  /** From the start of the process until it is ready. */
  seconds: number;
  /**
   * The processor time of the process itself, without Postgres and the chain; null where the system does not
   * give it.
   */
  cpuSeconds: number | null;
  peakMegabytes: number;
  lookUps: LookUps;
};

/** A Ponder app under measurement: `root` is its folder. */
export async function startMeasured(
  supervisor: Supervisor,
  { name, root, folder, env }: { name: string; root: string; folder: string; env: Record<string, string> },
) {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const began = performance.now();
  const pid = await startService(supervisor, {
    name,
    command: process.execPath,
    args: ponderInCheckout("start", { hostname: "127.0.0.1", port, root, flags: ["--log-level", "warn"] }),
    cwd: repositoryRoot,
    env: childEnvironment({ ...ponderSettings, INDEXER_PORT: String(port), ...env }),
    logFile: path.join(folder, `${name}.log`),
    isReady: async (signal) => (await fetch(`${url}/health`, { signal })).ok,
    readyWithinMs: 120_000,
  });
  const alive = new AbortController();
  const stopListening = supervisor.onExit((exit) => {
    if (exit.name === name) alive.abort(new Error(`${name} ended; see ${path.join(folder, `${name}.log`)}`));
  });
  const until = (what: string, look: () => Promise<boolean>) =>
    waitUntil(look, { what, withinMs: PATIENCE_MS, everyMs: 100, signal: alive.signal });

  return {
    backfilled: async (): Promise<BackfillFigures> => {
      await until(`${name} to be ready`, async () => (await fetch(`${url}/ready`)).ok);
      const seconds = (performance.now() - began) / 1000;
      const cpu = cpuSeconds(pid);
      const lookUps = readLookUps(await (await fetch(`${url}/metrics`)).text());
      return { seconds, cpuSeconds: cpu, peakMegabytes: peakMegabytes(pid), lookUps };
    },
    stop: async () => {
      stopListening();
      await supervisor.stop(name);
    },
  };
}

/** Processor time of a process so far, of all its threads (Linux counts it in hundredths of a second). */
function cpuSeconds(pid: number): number | null {
  try {
    const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(/\) /);
    const [user = 0, system = 0] = rest.split(" ").slice(11, 13).map(Number);
    return (user + system) / 100;
  } catch {
    return null;
  }
}

/** The highest resident memory of a process; its present memory where the system does not give the highest. */
export function peakMegabytes(pid: number): number {
  try {
    const [, kilobytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Number(kilobytes) / 1024;
  } catch {
    return Number(execFileSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" })) / 1024;
  }
}
