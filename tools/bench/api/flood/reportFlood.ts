import { availableParallelism, cpus, loadavg } from "node:os";
import { FIRST_SECONDS, type FloodFigures, type FloodOptions, type FloodRound } from "./measureFlood.ts";
import { PER_SECOND, percentile, type Times } from "./otherClients.ts";

/** One row of the table: a kind of flood. */
export function lineOf({ kind, before, first, rounds, flood, cores }: FloodFigures): string {
  const all = (phase: keyof FloodRound) => together(rounds.map((it) => it[phase]));
  const [flooded, quiet, control] = [all("flooded"), together([before, all("quiet")]), all("control")];
  const ratioOfFirst = [95, 99].map((it) => (percentile(first, it) / percentile(quiet, it)).toFixed(2));
  const ratio = (phase: keyof FloodRound, to: keyof FloodRound) =>
    [95, 99].map((it) => medianRatio(rounds, it, phase, to).toFixed(2)).join("/");
  const counts = [flood.answered, flood.refused, flood.closed].map((it) => it.toFixed(0)).join("/");
  const each = (cores * 1e6) / Math.max(1, flood.answered + flood.refused, flood.closed);
  const failed = [quiet, first, flooded, control].map(({ failures }) => failures.length).join("+");
  return `| ${[
    kind,
    milliseconds(quiet),
    milliseconds(first),
    ratioOfFirst.join("/"),
    milliseconds(flooded),
    ratio("flooded", "quiet"),
    milliseconds(control),
    ratio("control", "quiet"),
    counts,
    `${each.toFixed(0)} µs`,
    cores.toFixed(2),
    failed,
  ].join(" | ")} |`;
}

/** A table in Markdown, as in the documents. */
export function reportFlood(
  figures: FloodFigures[],
  { seconds, rounds, agents, hires }: FloodOptions,
): string {
  const load = loadavg()
    .map((it) => it.toFixed(1))
    .join(" ");
  return [
    `${availableParallelism()} × ${cpus()[0]?.model}, Node ${process.version}, load average at the end ${load}; ${agents} agents, ${hires} hires`,
    `${rounds} rounds of ${seconds} s flooded, quiet and control, ${PER_SECOND} requests a second by the other clients; milliseconds, p50/p95/p99; × of p95/p99, the median of the rounds (in the first seconds: of all)`,
    "",
    `| one client floods with | quiet | its first ${FIRST_SECONDS} s | × | after | × | control | × | answered/refused/closed a second | the node's processor time for each | cores | failed |`,
    "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|",
    ...figures.map(lineOf),
    "",
  ].join("\n");
}

function milliseconds(of: Times): string {
  return [50, 95, 99].map((it) => percentile(of, it).toFixed(1)).join("/");
}

function together(all: Times[]): Times {
  return { times: all.flatMap(({ times }) => times), failures: all.flatMap(({ failures }) => failures) };
}

function medianRatio(
  rounds: FloodRound[],
  percent: number,
  phase: keyof FloodRound,
  to: keyof FloodRound,
): number {
  const ratios = rounds.map((it) => percentile(it[phase], percent) / percentile(it[to], percent));
  const sorted = ratios.toSorted((a, b) => a - b);
  const half = Math.floor(sorted.length / 2);
  const [low, high] = [sorted[sorted.length % 2 === 0 ? half - 1 : half], sorted[half]];
  return ((low ?? Number.NaN) + (high ?? Number.NaN)) / 2;
}
