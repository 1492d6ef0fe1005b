import { styleText } from "node:util";
import type { StepResult } from "./runStep.ts";
import type { TestStep } from "./steps.ts";
import { LOADING } from "./testCounts.ts";

/** The steps in the order in which they ended. */
export type Results = { step: Pick<TestStep, "name" | "counts" | "needsBuild">; result: StepResult }[];

/** The number of slow files that the summary names. It names none if there are few files. */
const SLOWEST_SHOWN = 12;

/** `allFiles` names every file, `processorMs` is the processor time of the whole run in milliseconds. */
export type CloseOptions = { allFiles?: boolean; processorMs?: number };

/**
 * The last lines of a test run: how each step went, the files that took longest, what failed with which message, and the
 * sum. So nobody has to search a long output for them.
 */
export function closeOf(results: Results, { allFiles = false, processorMs }: CloseOptions = {}): string {
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
  const used = processorMs === undefined ? "" : `\nprocessor time: ${(processorMs / 1000).toFixed(0)} s\n`;
  return [...steps, longestFiles(results, allFiles), used, whatFailed(results), `\n${summary(total)}\n`].join(
    "",
  );
}

function longestFiles(results: Results, all: boolean): string {
  const files = results.flatMap(({ step, result }) =>
    (result.files ?? []).map(({ file, ...times }) => ({
      ...times,
      file: file === LOADING ? `${LOADING} of ${step.name}` : file,
    })),
  );
  if (files.length < 2 * SLOWEST_SHOWN && !all) return "";
  const list = (title: string, by: "ms" | "processorMs") => {
    const sorted = files.toSorted((a, b) => b[by] - a[by]).slice(0, all ? undefined : SLOWEST_SHOWN);
    const lines = sorted.map((time) => `${(time[by] / 1000).toFixed(1).padStart(6)} s  ${time.file}\n`);
    return `\n${title}:\n${lines.join("")}`;
  };
  return (
    list("the longest", "ms") +
    list("the most processor time, with the processes that a file starts", "processorMs")
  );
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
