import { availableParallelism } from "node:os";
import { styleText } from "node:util";
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
  return conclude(results);
}

type Results = { step: TestStep; result: StepResult }[];

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

/** Prints how each step went and what all came to; answers with the exit code. */
function conclude(results: Results): number {
  heading("all");
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { step, result } of results) {
    total.passed += result.passed;
    total.failed += result.failed;
    total.skipped += result.skipped;
    const mark = result.failed === 0 ? styleText("green", "✔") : styleText("red", "✘");
    const counts = step.counts ? `  ${summary(result)}` : "";
    const note = result.note ? `  ${result.note}` : "";
    process.stdout.write(`${mark} ${step.name}${counts}  ${(result.ms / 1000).toFixed(1)} s${note}\n`);
  }
  process.stdout.write(longestFiles(results));
  process.stdout.write(whatFailed(results));
  process.stdout.write(`\n${summary(total)}\n`);
  return total.failed === 0 ? 0 : 1;
}

/** How many of the slowest files the close names. */
const LONGEST = 12;

/** The files that took longest, so that whoever adds a slow one sees it. */
function longestFiles(results: Results): string {
  const files = results.flatMap(({ result }) => result.files ?? []).sort((a, b) => b.ms - a.ms);
  if (files.length < 2 * LONGEST) return "";
  const lines = files
    .slice(0, LONGEST)
    .map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`);
  return `\nthe longest:\n${lines.join("\n")}\n`;
}

/** Which tests failed and with what words, after everything else: nobody should search a long output for them. */
function whatFailed(results: Results): string {
  const failures = results.flatMap(({ result }) => result.failures ?? []);
  return failures
    .map(({ file, title, message }) => `\n${styleText("red", "✘")} ${file}\n  ${title}\n  ${message}\n`)
    .join("");
}

/** `N passed, N failed`, with `, N skipped` when there are any. */
function summary({ passed, failed, skipped }: { passed: number; failed: number; skipped: number }): string {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

function heading(name: string): void {
  process.stdout.write(
    `\n${styleText("bold", `── ${name} ${"─".repeat(Math.max(0, 70 - name.length))}`)}\n\n`,
  );
}
