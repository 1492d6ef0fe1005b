import { styleText } from "node:util";
import type { StepResult } from "./runStep.ts";
import type { TestStep } from "./steps.ts";

/** The steps in the order in which they ended. */
export type Results = { step: Pick<TestStep, "name" | "counts" | "needsBuild">; result: StepResult }[];

/** The number of slow files that the summary names. It names none if there are few files. */
const SLOWEST_SHOWN = 12;

/**
 * The last lines of a test run: how each step went, the files that took longest, what failed and with what words, and the
 * sum. Nobody should search a long output for them.
 */
export function closeOf(results: Results): string {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { result } of results) {
    total.passed += result.passed;
    total.failed += result.failed;
    total.skipped += result.skipped;
  }
  const steps = results.map(({ step, result }) => {
    const mark = result.failed === 0 ? styleText("green", "✔") : styleText("red", "✘");
    const counts = step.counts ? `  ${summary(result)}` : "";
    const note = result.note ? `  ${result.note}` : "";
    return `${mark} ${step.name}${counts}  ${(result.ms / 1000).toFixed(1)} s${note}\n`;
  });
  return [...steps, longestFiles(results), whatFailed(results), `\n${summary(total)}\n`].join("");
}

function longestFiles(results: Results): string {
  const files = results.flatMap(({ result }) => result.files ?? []).sort((a, b) => b.ms - a.ms);
  if (files.length < 2 * SLOWEST_SHOWN) return "";
  const lines = files
    .slice(0, SLOWEST_SHOWN)
    .map(({ file, ms }) => `${(ms / 1000).toFixed(1).padStart(6)} s  ${file}`);
  return `\nthe longest:\n${lines.join("\n")}\n`;
}

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
