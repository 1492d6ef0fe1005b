import { createHash } from "node:crypto";
import type { TestOutcome } from "./readJunit.ts";

/** What an attestation says of one run. */
export type RunCounts = {
  passing: number;
  total: number;
  flaky: number;
  /** Absent when the runner does not write how often a test asserts. */
  without_assertions?: number;
  /** SHA-256 of what became of each test, 64 hex digits: the same for two runs that agree test by test. */
  outcomes: string;
};

type Tests = ReadonlyMap<string, TestOutcome>;

/**
 * Counts runs of the same tests against one another. Every run has the same `total`: each test that is in any of them. A test is
 * flaky that passed in one and did not in another, was not there, or did both in one. Passing are those that passed, are not
 * flaky and assert something where that is written; skipped ones are in the total and do not pass. None is counted twice.
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

/** Of the names in the order of their code units, each with its result. */
function outcomesHash(tests: Tests): string {
  const hash = createHash("sha256");
  const names = [...tests.keys()].sort();
  for (const name of names) hash.update(`${JSON.stringify([name, tests.get(name)?.result])}\n`);
  return hash.digest("hex");
}
