import { globSync, readFileSync } from "node:fs";
import path from "node:path";
import { styleText } from "node:util";
import Table from "cli-table3";
import { Command } from "commander";
import { compile, parse } from "./mutation/compiler.ts";
import { findMutants } from "./mutation/findMutants.ts";
import { applyMutant, type Mutant } from "./mutation/mutant.ts";
import { makeScratchCopy, type ScratchCopy } from "./mutation/scratchCopy.ts";
import { startTestWorker } from "./mutation/startTestWorker.ts";
import { type Subject, subjects } from "./mutation/subjects.ts";
import { type Argument, judge } from "./mutation/verdicts.ts";
import { repositoryRoot } from "./repositoryRoot.ts";

/** What became of a mutant. `same` compiles to the contract's own code, `invalid` does not compile. */
export type Outcome = Mutant & { outcome: "killed" | "survived" | "same" | "invalid"; by?: string };

type Options = { file?: string; sample?: number; match?: string; json?: boolean };

const program = new Command("mutate")
  .description("Change the contracts in every small way, one at a time, and see whether a test notices.")
  .option("--file <name>", "only this source file, such as EscrowBook.sol")
  .option("--sample <n>", "only n mutants of each file, spread evenly over it", Number)
  .option("--match <text>", "only mutants whose id contains the text")
  .option("--json", "print the outcome of every mutant as JSON")
  .parse();
const options = program.opts<Options>();
process.exitCode = await mutate(options);

/** Runs the mutants and prints what became of them; the exit code is 0 when every survivor is argued. */
async function mutate({ file, sample, match, json }: Options): Promise<number> {
  const chosen = subjects.filter((subject) => file === undefined || subject.file.endsWith(file));
  if (chosen.length === 0) program.error(`--file: there are ${subjects.map((s) => s.file).join(", ")}`);
  const copy = makeScratchCopy();
  const outcomes: Outcome[] = [];
  const found = new Map<string, number>();
  try {
    for (const subject of chosen) {
      const all = mutantsOf(subject).filter(({ id }) => match === undefined || id.includes(match));
      found.set(subject.file, all.length);
      await runSubject(subject, spread(all, sample ?? all.length), copy, (outcome) => {
        outcomes.push(outcome);
        process.stderr.write(`${line(outcome)}\n`);
      });
    }
  } finally {
    copy.remove();
  }

  const argued = readArguments();
  const { unargued, stale } = judge(outcomes, argued, chosen.map(mutantIds));
  if (json) process.stdout.write(`${JSON.stringify({ outcomes, unargued, stale }, null, 2)}\n`);
  else process.stdout.write(`${table(outcomes, found, argued)}\n`);
  for (const mutant of unargued) process.stderr.write(`survived, and nobody argues why: ${line(mutant)}\n`);
  for (const { file, id } of stale) process.stderr.write(`argued, but killed or gone: ${file} ${id}\n`);
  return unargued.length + stale.length === 0 ? 0 : 1;
}

async function runSubject(
  { file, targets, tests }: Subject,
  mutants: Mutant[],
  copy: ScratchCopy,
  report: (outcome: Outcome) => void,
): Promise<void> {
  const name = `contracts/${file}`;
  const source = readFileSync(path.join(repositoryRoot, name), "utf8");
  const baseline = compile(name, targets);
  if (baseline === undefined) throw new Error(`${name} does not compile`);
  const install = (codes: typeof baseline) =>
    targets.forEach((target, i) => {
      copy.install(target, codes[i] as (typeof codes)[number]);
    });
  const worker = startTestWorker(copy.folder, testFiles(tests, copy.folder));
  try {
    install(baseline);
    const sound = await worker.round();
    if (sound.failed || sound.passed === 0)
      throw new Error(`the tests fail without a mutant: ${sound.failed}`);
    // The next mutant is compiled while the tests run on this one.
    let running: Promise<void> | undefined;
    for (const mutant of mutants) {
      const codes = compile(name, targets, { [name]: applyMutant(source, mutant) });
      await running;
      running = undefined;
      if (codes === undefined) report({ ...mutant, outcome: "invalid" });
      else if (JSON.stringify(codes) === JSON.stringify(baseline)) report({ ...mutant, outcome: "same" });
      else {
        install(codes);
        running = worker.round().then(({ failed }) => {
          report({ ...mutant, ...(failed ? { outcome: "killed", by: failed } : { outcome: "survived" }) });
        });
        // Gives the message to the worker the chance to leave before this process is busy compiling.
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    }
    await running;
  } finally {
    await worker.stop();
    install(baseline);
  }
}

/** The files in the order of the globs, each once: what notices most is to come first. */
function testFiles(globs: string[], folder: string): string[] {
  return [...new Set(globs.flatMap((glob) => globSync(glob, { cwd: folder }).sort()))];
}

function mutantsOf({ file }: Subject): Mutant[] {
  const name = `contracts/${file}`;
  return findMutants(file, readFileSync(path.join(repositoryRoot, name), "utf8"), parse(name));
}

function mutantIds(subject: Subject): { file: string; ids: string[] } {
  return { file: subject.file, ids: mutantsOf(subject).map(({ id }) => id) };
}

/** `count` of the items, evenly spread, so that two runs with one count look at the same ones. */
function spread<T>(items: T[], count: number): T[] {
  if (count >= items.length) return items;
  return Array.from({ length: count }, (_, i) => items[Math.floor((i * items.length) / count)] as T);
}

function readArguments(): Argument[] {
  return JSON.parse(readFileSync(path.join(repositoryRoot, "scripts/mutation/argued.json"), "utf8"));
}

function line({ outcome, file, line: at, id, by }: Outcome): string {
  const colour = outcome === "survived" ? "red" : outcome === "killed" ? "green" : "gray";
  return `${styleText(colour, outcome.padEnd(8))} ${file}:${at} ${id}${by ? `  ← ${by}` : ""}`;
}

function table(outcomes: Outcome[], found: Map<string, number>, argued: Argument[]): string {
  const head = ["file", "mutants", "run", "do not compile", "same code", "killed", "survived", "argued"];
  const rows = new Table({ head, style: { head: [], border: [] } });
  for (const [file, mutants] of found) {
    const own = outcomes.filter((outcome) => outcome.file === file);
    const count = (outcome: Outcome["outcome"]) => own.filter((one) => one.outcome === outcome).length;
    const survivors = own.filter((one) => one.outcome === "survived");
    const known = survivors.filter((one) => argued.some((a) => a.file === file && a.id === one.id)).length;
    const counts = [count("invalid"), count("same"), count("killed"), survivors.length, known];
    rows.push([file, mutants, own.length, ...counts]);
  }
  return rows.toString();
}
