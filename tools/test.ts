import { availableParallelism } from "node:os";
import { styleText } from "node:util";
import { closeOf, type Results } from "./testing/closeOf.ts";
import { runStep, type StepResult } from "./testing/runStep.ts";
import { chosenTests, preparations, sideBySide, type TestStep } from "./testing/steps.ts";

/** What to run; without files and grep everything. */
export type RunAllTestsParameters = { files?: string[]; grep?: string };

/** More than two at a time would measure the machine, not the code: many tests start a chain, a Postgres or a node. */
const LANES = Math.min(2, availableParallelism());

/**
 * Runs every check and test of the repository, each with its output visible, and closes with one line that counts
 * them: `N passed, N failed`. A check (lint, build, types) counts one. The folders of test/ run two at a time.
 *
 * @returns the exit code: 0 only when nothing failed and every runner ran at least one test
 */
export async function runAllTests({ files = [], grep }: RunAllTestsParameters = {}): Promise<number> {
  const chosen = files.length > 0 || grep !== undefined;
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => stop.abort(signal);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);

  const results: Results = [];
  if (chosen) {
    await runInLanes([chosenTests({ files, ...(grep !== undefined && { grep }) })], 1, stop.signal, results);
  } else {
    await runInLanes(preparations, 1, stop.signal, results);
    await runInLanes(sideBySide(), LANES, stop.signal, results);
  }
  if (stop.signal.aborted) {
    process.stdout.write(`\nstopped by ${stop.signal.reason}\n`);
    return 130;
  }
  heading("all");
  process.stdout.write(closeOf(results));
  return results.some(({ result }) => result.failed > 0) ? 1 : 0;
}

async function runInLanes(
  steps: TestStep[],
  lanes: number,
  stop: AbortSignal,
  results: Results,
): Promise<void> {
  const waiting = [...steps];
  const width = Math.max(...steps.map((step) => step.name.length));
  const lane = async () => {
    for (let step = waiting.shift(); step && !stop.aborted; step = waiting.shift()) {
      if (
        step.needsBuild &&
        results.some(({ step: done, result }) => done.name === "build" && result.failed > 0)
      ) {
        results.push({ step, result: NOT_BUILT });
        continue;
      }
      heading(step.name);
      const prefix = lanes > 1 ? `${styleText("dim", step.name.padEnd(width))}  ` : undefined;
      results.push({ step, result: await runStep(step, stop, prefix) });
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
}

const NOT_BUILT: StepResult = {
  passed: 0,
  failed: 1,
  skipped: 0,
  ms: 0,
  note: "not run: the contracts do not build",
};

function heading(name: string): void {
  process.stdout.write(
    `\n${styleText("bold", `── ${name} ${"─".repeat(Math.max(0, 70 - name.length))}`)}\n\n`,
  );
}
