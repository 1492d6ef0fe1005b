import { createHash } from "node:crypto";
import type { TestOutcome } from "./readJunit.ts";

/** The counts of one run in an attestation. */
export type RunCounts = {
  passing: number;
  total: number;
  flaky: number;
  /** Absent if the runner does not report the number of assertions. */
  without_assertions?: number;
  /**
   * SHA-256 of the results of all tests, 64 hex digits. It is the same for two runs with the same result for
   * each test.
   */
  outcomes: string;
};

type Tests = ReadonlyMap<string, TestOutcome>;

/**
 * Compares and counts runs of the same tests. `total` is the same for every run: the number of tests that
 * appear in any of them. A test is flaky if it passed in one run, but failed or was missing in
 * another. It is also flaky if one run has both results. A test counts as passing if it passed, is not flaky, and asserts
 * something (if this is reported). Skipped tests count in the total and do not pass. No test is counted
 * twice.
 */
export function countRuns(runs: readonly Tests[]): RunCounts[] {
  const names = new Set(runs.flatMap((tests) => [...tests.keys()]));
  const flaky = new Set([...names].filter((name) => isFlaky(runs.map((tests) => tests.get(name)))));
  return runs.map((tests) => {
    const steady = [...tests].filter(([name]) => !flaky.has(name)).map(([, outcome]) => outcome);
    const passed = steady.filter(({ result }) => result === "passed");
    const empty = steady.filter((it) => it.result !== "skipped" && it.assertions === 0);
    const isWritten =
      tests.size > 0 && [...tests.values()].every(({ assertions }) => assertions !== undefined);
    return {
      passing: passed.filter(({ assertions }) => assertions !== 0).length,
      total: names.size,
      flaky: flaky.size,
      ...(isWritten && { without_assertions: empty.length }),
      outcomes: outcomesHash(tests),
    };
  });
}

function isFlaky(outcomes: (TestOutcome | undefined)[]): boolean {
  const passes = outcomes.filter((outcome) => outcome?.result === "passed").length;
  return outcomes.some((outcome) => outcome?.isFlaky) || (passes > 0 && passes < outcomes.length);
}

/** The hash over all names, sorted by code units, each with its result. */
function outcomesHash(tests: Tests): string {
  const hash = createHash("sha256");
  const names = [...tests.keys()].sort();
  for (const name of names) hash.update(`${JSON.stringify([name, tests.get(name)?.result])}\n`);
  return hash.digest("hex");
}
