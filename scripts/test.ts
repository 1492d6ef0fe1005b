import { styleText } from "node:util";
import { runStep, type StepResult } from "./testing/runStep.ts";
import { checks, type TestStep, testRunners } from "./testing/steps.ts";

/** What to run; without files and grep everything. */
export type RunAllTestsParameters = { files?: string[]; grep?: string };

/**
 * Runs every check and test of the repository one after the other, each with its output visible, and closes with one
 * line that counts them: `N passed, N failed`. A check (lint, build, types) counts one.
 *
 * @returns the exit code: 0 only when nothing failed and every runner ran at least one test
 */
export async function runAllTests({ files = [], grep }: RunAllTestsParameters = {}): Promise<number> {
  const chosen = files.length > 0 || grep !== undefined;
  const runners = testRunners({ files, ...(grep !== undefined && { grep }) });
  const steps: TestStep[] = chosen
    ? runners.filter((step) => step.name === "TypeScript tests")
    : [...checks, ...runners];

  const stop = new AbortController();
  const onSignal = (signal: NodeJS.Signals) => stop.abort(signal);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, onSignal);

  const results: { step: TestStep; result: StepResult }[] = [];
  let built = true;
  for (const step of steps) {
    if (step.needsBuild && !built) {
      results.push({
        step,
        result: { passed: 0, failed: 1, skipped: 0, ms: 0, note: "not run: the contracts do not build" },
      });
      continue;
    }
    heading(step.name);
    const result = await runStep(step, stop.signal);
    if (stop.signal.aborted) {
      process.stdout.write(`\nstopped by ${stop.signal.reason}\n`);
      return 130;
    }
    results.push({ step, result });
    if (step.name === "build") built = result.failed === 0;
  }

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
  process.stdout.write(`\n${summary(total)}\n`);
  return total.failed === 0 ? 0 : 1;
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
