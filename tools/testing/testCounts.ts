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

/** Stands for the loading of all files, before the first test, in place of the name of a file. */
export const LOADING = "loading the files";

/** Writes the counts to the file in which the test run looks for them. Does nothing when a runner is started by hand. */
export function writeTestCounts(counts: TestCounts): void {
  const file = process.env.TALLYSTICK_TEST_COUNTS;
  if (file) writeFileSync(file, JSON.stringify(counts));
}

/** Reads the counts that a runner wrote; undefined when the runner ended before it could write them. */
export function readTestCounts(file: string): TestCounts | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as TestCounts;
  } catch {
    return undefined;
  }
}
