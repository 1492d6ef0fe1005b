import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";

const file = path.join(repositoryRoot, "cache", "invariantCoverage.jsonl");

/** How often each call of a suite's invariant runs succeeded, over all runs. */
export type InvariantCoverage = { suite: string; runs: number; calls: Record<string, number> };

/** Forgets earlier runs. */
export async function clearInvariantCoverage(): Promise<void> {
  await rm(file, { force: true });
}

/** What the invariant runs since {@link clearInvariantCoverage} did, suite by suite. */
export async function readInvariantCoverage(): Promise<InvariantCoverage[]> {
  const text = await readFile(file, "utf8").catch(() => "");
  // Suites run at the same time: what one writes may stand in the line of another.
  const lines = text.replaceAll("}{", "}\n{").split("\n");
  return sumInvariantCoverage(lines.filter((line) => line !== ""));
}

/** Sums up the lines that runs wrote: `{"suite":"…","call":count,…}` each. */
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

/** One line per suite, and the calls that no run made: a suite with such a call has shown less than it says. */
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
