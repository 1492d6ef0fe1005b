import { readFileSync, statSync } from "node:fs";
import path from "node:path";
import { styleText } from "node:util";
import Table from "cli-table3";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { parse } from "./compiler.ts";
import { findMutants } from "./findMutants.ts";
import type { Mutant } from "./mutant.ts";
import { forgetResults, openResults } from "./results.ts";
import { type Outcome, runSubject } from "./runSubject.ts";
import { makeScratchCopy } from "./scratchCopy.ts";
import type { Subject } from "./subjects.ts";
import { type Argument, judge, same } from "./verdicts.ts";

export type MutateOptions = {
  file?: string;
  sample?: number;
  match?: string;
  json?: boolean;
  again?: boolean;
};

/**
 * Mutants are tested in two lanes: one compiles while the other runs tests. More lanes need more memory than
 * a small machine has.
 */
const LANES = 2;

/**
 * Runs the mutants and prints their outcomes. The exit code is 0 if there is an argument for every survivor.
 */
export async function mutate(
  chosen: Subject[],
  { sample, match, json, again }: MutateOptions,
): Promise<number> {
  const argued = readArguments();
  const outcomes: Outcome[] = [];
  const found = new Map<string, number>();
  const known: { file: string; ids: string[] }[] = [];
  // The longest files come first, so that the lanes end at about the same time.
  const waiting = chosen.toSorted((a, b) => sizeOf(b) - sizeOf(a));

  async function runLane(): Promise<void> {
    const copy = makeScratchCopy();
    try {
      const results = openResults(copy.folder);
      for (let subject = waiting.shift(); subject !== undefined; subject = waiting.shift()) {
        const every = mutantsOf(subject, copy.folder);
        known.push({ file: subject.file, ids: every.map(({ id }) => id) });
        const all = every.filter(({ id }) => match === undefined || id.includes(match));
        found.set(subject.file, all.length);
        const wanted = spread(all, sample ?? all.length);
        const before = wanted.map((mutant) => results.find(mutant)).filter((it) => it !== undefined);
        outcomes.push(...before);
        const rest = wanted.filter((mutant) => results.find(mutant) === undefined);
        if (rest.length === 0) continue;
        const survives = (mutant: Mutant) => argued.some(same(mutant));
        await runSubject(subject, rest, copy, survives, (outcome) => {
          outcomes.push(outcome);
          results.add(outcome);
          process.stderr.write(`${line(outcome)}\n`);
        });
      }
    } finally {
      copy.remove();
    }
  }
  if (again) forgetResults();
  await Promise.all(Array.from({ length: Math.min(LANES, chosen.length) }, runLane));

  const { unargued, stale } = judge(outcomes, argued, known);
  if (json) process.stdout.write(`${JSON.stringify({ outcomes, unargued, stale }, null, 2)}\n`);
  else process.stdout.write(`${table(outcomes, found, argued)}\n`);
  for (const mutant of unargued) process.stderr.write(`survived without an argument: ${line(mutant)}\n`);
  for (const { file, id } of stale) process.stderr.write(`an argument, but no survivor: ${file} ${id}\n`);
  return unargued.length + stale.length === 0 ? 0 : 1;
}

function sizeOf({ file }: Subject): number {
  return statSync(path.join(repositoryRoot, "contracts", file)).size;
}

function mutantsOf({ file }: Subject, folder: string): Mutant[] {
  const name = `contracts/${file}`;
  return findMutants(file, readFileSync(path.join(folder, name), "utf8"), parse(folder, name));
}

/** Picks `count` of the items, evenly spread, so that two runs with the same count pick the same ones. */
function spread<T>(items: T[], count: number): T[] {
  if (count >= items.length) return items;
  return Array.from({ length: count }, (_, i) => items[Math.floor((i * items.length) / count)] as T);
}

function readArguments(): Argument[] {
  return JSON.parse(readFileSync(path.join(repositoryRoot, "tools/mutation/argued.json"), "utf8"));
}

function line({ outcome, file, line: at, id, by }: Outcome): string {
  const colour = outcome === "survived" ? "red" : outcome === "killed" ? "green" : "gray";
  return `${styleText(colour, outcome.padEnd(8))} ${file}:${at} ${id}${by ? `  ← ${by}` : ""}`;
}

function table(outcomes: Outcome[], found: Map<string, number>, argued: Argument[]): string {
  const head = ["file", "mutants", "run", "do not compile", "same code", "killed", "survived", "argued"];
  const rows = new Table({ head, style: { head: [], border: [] } });
  const sum = head.slice(1).map(() => 0);
  for (const [file, mutants] of [...found].sort()) {
    const own = outcomes.filter((outcome) => outcome.file === file);
    const count = (outcome: Outcome["outcome"]) => own.filter((one) => one.outcome === outcome).length;
    const survivors = own.filter((one) => one.outcome === "survived");
    const known = survivors.filter((one) => argued.some((a) => a.file === file && a.id === one.id)).length;
    const counts = [count("invalid"), count("same"), count("killed"), survivors.length, known];
    const row = [mutants, own.length, ...counts];
    row.forEach((value, i) => {
      sum[i] = (sum[i] ?? 0) + value;
    });
    rows.push([file, ...row]);
  }
  rows.push(["all", ...sum]);
  return rows.toString();
}
