import { readFileSync, writeFileSync } from "node:fs";

/** A runner's counts for the closing line, and the failed tests that it knows. */
export type TestCounts = {
  passed: number;
  failed: number;
  skipped: number;
  failures?: FailedTest[];
  files?: FileTime[];
};

/** A test or a hook that failed: its place, and the first line of its error. */
export type FailedTest = { file: string; title: string; message: string };

/** How long the tests of one file took, by the clock and in processor time of all processes, both in milliseconds. */
export type FileTime = { file: string; ms: number; processorMs: number };

/** In place of a file: what it took to load all files, before the first test. */
export const LOADING = "loading the files";

/** Leaves the counts where the test run looks for them; does nothing when a runner is started by hand. */
export function writeTestCounts(counts: TestCounts): void {
  const file = process.env.TALLYSTICK_TEST_COUNTS;
  if (file) writeFileSync(file, JSON.stringify(counts));
}

/** Reads what a runner left; undefined when it ended before it could say anything. */
export function readTestCounts(file: string): TestCounts | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as TestCounts;
  } catch {
    return undefined;
  }
}
