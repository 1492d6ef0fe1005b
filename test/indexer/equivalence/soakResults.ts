import { appendFileSync, mkdirSync, readFileSync } from "node:fs";
import path from "node:path";
import type { Situations } from "./situations.ts";

/** The results of the logs of one chain. */
export type ChainResult = {
  seed: number;
  /** The numbers of its logs. If nothing failed, the nodes agreed on all of them. */
  logs: number[];
  /** The first failure. */
  failed?: string;
  /**
   * The numbers of reorgs (one of three blocks in each log), of killed nodes, and of logs with at least one killed
   * node.
   */
  reorgs: number;
  kills: number;
  killedLogs: number;
  ticks: number;
  seconds: number;
  situations: Situations;
};

/** The results of all soaks: a file with one JSON object a line, one for each chain. */
export function openResults(file: string) {
  mkdirSync(path.dirname(file), { recursive: true });
  appendFileSync(file, "");
  return {
    add: (result: ChainResult) => appendFileSync(file, `${JSON.stringify(result)}\n`),
    all: (): ChainResult[] =>
      readFileSync(file, "utf8")
        .split("\n")
        .filter((line) => line !== "")
        .map((line) => JSON.parse(line)),
  };
}

/** A table of the results for people. A log that was played twice counts once. */
export function tableOf(results: readonly ChainResult[]): string {
  const agreed = results.filter(({ failed }) => failed === undefined);
  const failed = results.filter((it) => it.failed !== undefined);
  const logs = new Set(agreed.flatMap(({ seed, logs }) => logs.map((n) => `${seed}/${n}`)));
  const sum = (of: (it: ChainResult) => number) => agreed.reduce((total, it) => total + of(it), 0);
  const rows: [string, string | number][] = [
    ["logs that agreed", logs.size],
    ["of the seeds", [...new Set(agreed.map(({ seed }) => seed))].join(", ")],
    ["chains", agreed.length],
    ["reorgs", sum((it) => it.reorgs)],
    ["logs with a kill -9", sum((it) => it.killedLogs)],
    ["nodes killed", sum((it) => it.kills)],
    ["ticks with equal digests", sum((it) => it.ticks)],
    ...Object.entries(situationsIn(agreed)),
    [
      "seconds a log",
      (
        sum((it) => it.seconds) /
        Math.max(
          1,
          sum((it) => it.logs.length),
        )
      ).toFixed(1),
    ],
    ["chains that failed", failed.length],
  ];
  return rows.map(([name, value]) => `  ${name.padEnd(50)} ${value}\n`).join("");
}

/** How often each situation happened in all these results. */
export function situationsIn(results: readonly ChainResult[]): Situations {
  const total: Situations = {};
  for (const { situations } of results) {
    for (const [name, count] of Object.entries(situations)) total[name] = (total[name] ?? 0) + count;
  }
  return total;
}
