import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

const file = path.join(repositoryRoot, "cache", "invariantCoverage.jsonl");

/** How often each call of a suite's invariant runs succeeded, over all runs. */
export type InvariantCoverage = { suite: string; runs: number; calls: Record<string, number> };

/** Deletes the results of earlier runs. */
export async function clearInvariantCoverage(): Promise<void> {
  await rm(file, { force: true });
}

/** Reads what the invariant runs since {@link clearInvariantCoverage} did, for each suite. */
export async function readInvariantCoverage(): Promise<InvariantCoverage[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  // Suites run at the same time, so two of them may write into the same line.
  const lines = text.replaceAll("}{", "}\n{").split("\n");
  return sumInvariantCoverage(lines.filter((line) => line !== ""));
}

/** Sums up the lines that the runs wrote. Each has the form `{"suite":"…","call":count,…}`. */
export function sumInvariantCoverage(lines: readonly string[]): InvariantCoverage[] {
  const suites = new Map<string, InvariantCoverage>();
  for (const line of lines) {
    const { suite, ...calls } = JSON.parse(line) as { suite: string } & Record<string, number>;
    const sum = suites.get(suite) ?? { suite, runs: 0, calls: {} };
    sum.runs++;
    for (const [call, count] of Object.entries(calls))
      sum.calls[call] = (sum.calls[call] ?? 0) + Number(count);
    suites.set(suite, sum);
  }
  return [...suites.values()];
}

/**
 * One line per suite, and the calls that never succeeded. A suite with such a call proves less than it seems
 * to.
 */
export function describeInvariantCoverage(coverage: readonly InvariantCoverage[]): {
  lines: string[];
  missing: string[];
} {
  const lines = coverage.map(({ suite, runs, calls }) => {
    const counts = Object.entries(calls).map(([call, count]) => `${call} ${count}`);
    return `${suite} invariants, ${runs} runs: ${counts.join(", ")}`;
  });
  const missing = coverage.flatMap(({ suite, calls }) =>
    Object.entries(calls)
      .filter(([, count]) => count === 0)
      .map(([call]) => `${suite}: ${call}`),
  );
  return { lines, missing };
}
