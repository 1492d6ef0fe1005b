import { availableParallelism } from "node:os";
import { styleText } from "node:util";
import { closeOf, type Results } from "./testing/closeOf.ts";
import { processorTime } from "./testing/processorTime.ts";
import { roomOnMachine } from "./testing/roomOnMachine.ts";
import { runInLanes } from "./testing/runInLanes.ts";
import { runStep } from "./testing/runStep.ts";
import { allSteps, buildStep, chosenTests, type TestStep } from "./testing/steps.ts";

/** The tests to run. Without `files` and `grep`, all tests run. */
export type RunAllTestsParameters = {
  files?: string[];
  grep?: string;
  /**
   * Compiles the contracts before the chosen tests. Otherwise the first test that needs them compiles them, within its
   * own time limit.
   */
  build?: boolean;
};

/** Two more than the cores, because most tests mostly wait for a chain, a Postgres or a node; never more than four. */
const LANES = Math.min(4, availableParallelism() + 2);

/**
 * Runs every check and test of the repository, each with its output visible, and ends with one line that counts them:
 * `N passed, N failed`. A check (lint, build, types) counts as one. At most `LANES` run at a time. While cores are idle,
 * further ones start.
 *
 * @returns the exit code: 0 if nothing failed, 1 if something failed, 130 after a signal. A runner without a test counts
 * as failed
 */
export async function runAllTests({
  files = [],
  grep,
  build = false,
}: RunAllTestsParameters = {}): Promise<number> {
  const chosen = files.length > 0 || grep !== undefined;
  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => stop.abort(signal);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);

  const results: Results = [];
  const run = (steps: TestStep[], lanes: number) => {
    const width = Math.max(...steps.map(({ name }) => name.length));
    return runInLanes(steps, {
      lanes,
      ...(lanes > 1 && { hasRoom: roomOnMachine() }),
      signal: stop.signal,
      results,
      run: (step) => {
        heading(step.name);
        const prefix = lanes > 1 ? `${styleText("dim", step.name.padEnd(width))}  ` : undefined;
        return runStep(step, stop.signal, { ...(prefix !== undefined && { prefix }) });
      },
    });
  };
  if (chosen) {
    const tests = chosenTests({ files, ...(grep !== undefined && { grep }) });
    await run(build ? [buildStep, tests] : [tests], 1);
  } else await run(allSteps(), LANES);
  if (stop.signal.aborted) {
    process.stdout.write(`\nstopped by ${stop.signal.reason}\n`);
    return 130;
  }
  heading("all");
  process.stdout.write(
    closeOf(results, { allFiles: process.env.TEST_COSTS !== undefined, processorMs: processorTime() }),
  );
  return results.some(({ result }) => result.failed > 0) ? 1 : 0;
}

function heading(name: string): void {
  process.stdout.write(
    `\n${styleText("bold", `── ${name} ${"─".repeat(Math.max(0, 70 - name.length))}`)}\n\n`,
  );
}
