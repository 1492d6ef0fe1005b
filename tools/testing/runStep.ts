import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { compiledOnce } from "../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { prefixLines } from "./prefixLines.ts";
import type { TestStep } from "./steps.ts";
import { readTestCounts, type TestCounts } from "./testCounts.ts";

/** How long a runner may take to end after it has counted its tests. */
const MS_TO_END = 60_000;

/** In place of an exit code: the runner was killed. */
export const DID_NOT_END = "killed, because it did not end after its last test";

/** The result of a step. `note` says what the counts do not say. */
export type StepResult = TestCounts & { ms: number; note?: string };

/** The options of {@link runStep}. */
export type RunStepOptions = {
  /** The prefix of each line of its output, if other steps write at the same time. */
  prefix?: string;
  /** How many milliseconds a runner may continue after it has counted its tests. The default is a minute. */
  msToEnd?: number;
};

/**
 * Runs one step. Its output goes to ours, and a signal to stop is passed on to it. A runner that has counted its tests, but
 * does not end because something keeps it open, is killed and counts as failed. Otherwise the whole run would wait for it.
 */
export async function runStep(
  step: TestStep,
  signal: AbortSignal,
  { prefix, msToEnd = MS_TO_END }: RunStepOptions = {},
): Promise<StepResult> {
  const folder = mkdtempSync(path.join(tmpdir(), "tallystick-test-"));
  const countsFile = path.join(folder, "counts.json");
  const began = performance.now();
  try {
    const code = await run(step, countsFile, signal, { prefix, msToEnd });
    const ms = performance.now() - began;
    return { ...judge(step, code, readTestCounts(countsFile)), ms };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Turns exit code and counts into counts that never look better than what happened. */
export function judge(
  step: Pick<TestStep, "counts">,
  code: number | typeof DID_NOT_END,
  counts: TestCounts | undefined,
): Omit<StepResult, "ms"> {
  if (!step.counts)
    return code === 0 ? { passed: 1, failed: 0, skipped: 0 } : { passed: 0, failed: 1, skipped: 0 };
  if (!counts) return { passed: 0, failed: 1, skipped: 0, note: `ended with ${code} before it could count` };
  if (code === DID_NOT_END) return { ...counts, failed: counts.failed + 1, note: DID_NOT_END };
  if (counts.failed > 0) return counts;
  if (code !== 0) return { ...counts, failed: 1, note: `ended with ${code}` };
  if (counts.passed === 0) return { ...counts, failed: 1, note: "ran no test" };
  return counts;
}

function run(
  step: TestStep,
  countsFile: string,
  signal: AbortSignal,
  { prefix, msToEnd }: { prefix: string | undefined; msToEnd: number },
): Promise<number | typeof DID_NOT_END> {
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    ...compiledOnce,
    ...step.env,
    TALLYSTICK_TEST_COUNTS: countsFile,
    TALLYSTICK_LIFELINE: "3",
  };
  // Behind a pipe a program cannot see that its output ends in a terminal.
  if (prefix !== undefined && process.stdout.isTTY) env.FORCE_COLOR = "1";
  const output = prefix === undefined ? "inherit" : "pipe";
  // The fourth descriptor is the lifeline: it closes when this process ends.
  const child = spawn(process.execPath, step.args, {
    cwd: repositoryRoot,
    env,
    stdio: ["ignore", output, output, "pipe"],
  });
  const ends = [child.stdout, child.stderr].map((stream) => {
    const lines = prefixLines(prefix ?? "", (text) => process.stdout.write(text));
    stream?.on("data", (chunk: Uint8Array) => lines.write(chunk));
    return () => lines.end();
  });
  const stop = () => child.kill("SIGTERM");
  signal.addEventListener("abort", stop, { once: true });
  let killed = false;
  let hasCounted: number | undefined;
  const watch = setInterval(
    () => {
      if (hasCounted === undefined && existsSync(countsFile)) hasCounted = performance.now();
      if (hasCounted === undefined || performance.now() - hasCounted < msToEnd) return;
      killed = true;
      child.kill("SIGKILL");
    },
    Math.min(1_000, msToEnd),
  );
  return new Promise((resolve, reject) => {
    child.on("error", (error) => {
      clearInterval(watch);
      reject(error);
    });
    // Not "close": something that the step left behind may hold its output open.
    child.on("exit", (code) => {
      clearInterval(watch);
      signal.removeEventListener("abort", stop);
      setImmediate(() => {
        for (const end of ends) end();
        resolve(killed ? DID_NOT_END : (code ?? 1));
      });
    });
  });
}
