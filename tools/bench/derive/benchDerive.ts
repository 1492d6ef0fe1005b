import { execFile } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import type { Progress } from "../../../scripts/cli/progress.ts";
import { childEnvironment } from "../../../scripts/processes/childEnvironment.ts";
import { nodeProgram } from "../../../scripts/processes/nodeProgram.ts";
import { measureDerive } from "../index/measureDerive.ts";
import type { WorldSize } from "../index/world.ts";
import { writeLog } from "./writeLog.ts";

/**
 * Seconds of processor time. Each figure is the lowest of all runs, because other work of the machine can only raise
 * it.
 */
export type DeriveCost = {
  events: number;
  readSeconds: number;
  deriveSeconds: number;
  eventsPerSecond: number;
  /** The time of the derivation, which also reads the file, divided by the time of reading alone. */
  ofReading: number;
  peakMegabytes: number;
  digest: string | null;
  /**
   * The median time of an event of each kind, and the sum of the times of all its events. The sum also contains pauses of the
   * garbage collector and other work of the machine.
   */
  kinds: { kind: string; events: number; microseconds: number; seconds: number }[];
};

/** Derives a generated log with trusted signatures, and reads the same file without deriving it, in turn. */
export async function benchDerive(size: WorldSize, runs: number, progress: Progress): Promise<DeriveCost> {
  const folder = await mkdtemp(path.join(tmpdir(), "tallystick-derive-"));
  try {
    const file = path.join(folder, "log.jsonl");
    await progress.step("log", async () => ({ value: await writeLog(size, file) }));
    return await measureLog(file, runs, progress);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function measureLog(file: string, runs: number, progress: Progress): Promise<DeriveCost> {
  let [readSeconds, deriveSeconds] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  let last = { events: 0, peakMegabytes: 0, digest: null as string | null };
  for (let run = 1; run <= runs; run++) {
    last = await progress.step(`run ${run} of ${runs}`, async () => {
      const read = await readOnly(file);
      const derived = await measureDerive(file, true);
      readSeconds = Math.min(readSeconds, read.cpuSeconds);
      deriveSeconds = Math.min(deriveSeconds, derived.cpuSeconds);
      return { value: derived, detail: `${derived.cpuSeconds.toFixed(2)} s, reading ${read.cpuSeconds} s` };
    });
  }
  const kinds = await progress.step("kinds of events", async () => ({ value: await measureKinds(file) }));
  const { events, peakMegabytes, digest } = last;
  const rates = { eventsPerSecond: events / deriveSeconds, ofReading: deriveSeconds / readSeconds };
  return { events, readSeconds, deriveSeconds, ...rates, peakMegabytes, digest, kinds };
}

async function readOnly(file: string): Promise<{ cpuSeconds: number }> {
  return await run("readProgram.ts", file);
}

async function measureKinds(file: string): Promise<DeriveCost["kinds"]> {
  return await run("kindsProgram.ts", file);
}

/** Runs a program of this folder on a log, and returns what it prints. */
async function run<T>(program: string, file: string): Promise<T> {
  const args = nodeProgram(`tools/bench/derive/${program}`, [file]);
  const { stdout } = await promisify(execFile)(process.execPath, args, { env: childEnvironment() });
  return JSON.parse(stdout) as T;
}
