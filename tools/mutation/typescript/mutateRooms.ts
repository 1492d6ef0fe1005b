import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { styleText } from "node:util";
import Table from "cli-table3";
import { TallystickError } from "tallystick-protocol/errors";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";
import type { Argument } from "../verdicts.ts";
import { filesOf } from "./filesOf.ts";
import { judgeRoom, type RoomVerdict } from "./judgeRoom.ts";
import { LEFT_OUT } from "./leftOut.ts";
import { type MutationReport, mutantsOf, type RoomMutant } from "./mutantsOf.ts";
import type { Room } from "./rooms.ts";
import { onlySampled, patternsOf, sampleLines } from "./sampleLines.ts";

export type MutateRoomOptions = {
  file?: string;
  /** Only the mutants of this number of lines in each part, for an estimate in minutes. */
  sample?: number;
  again?: boolean;
  concurrency?: number;
  json?: boolean;
};

/** The folder for known outcomes and for the changed copies. It is not in version control. */
const KEPT = ".tallystick/mutation";

/** Links the packages of a copy, so that code in the copy imports them. */
const linkPackages = path.join(import.meta.dirname, "linkPackages.mjs");

/**
 * The time limit of a test, in milliseconds. The changed code counts its statements, so it is slower.
 */
const LONGEST_TEST_MS = 180_000;

/**
 * Mutates rooms, one after the other, and prints one result for all of them. The exit code is 0 when the result is good (see
 * {@link judgeRoom}). Stryker keeps the outcomes of each room, even when it is interrupted. So an interrupted run continues
 * where it ended.
 */
export async function mutateRooms(rooms: readonly Room[], options: MutateRoomOptions): Promise<number> {
  mkdirSync(path.join(repositoryRoot, KEPT), { recursive: true });
  const found: MutationReport = { files: {} };
  for (const room of rooms) {
    const isWanted = (file: string): boolean => options.file === undefined || file.endsWith(options.file);
    const sources = filesOf(room.sources).filter(isWanted);
    if (sources.length === 0) continue;
    process.stderr.write(`${styleText("bold", room.name)}\n`);
    Object.assign(found.files, (await mutateRoom(room, sources, options)).files);
  }
  const name = rooms.length === 1 ? rooms[0]?.name : rooms[0]?.name.split("/")[0];
  return report(options.file ?? `the room ${name}`, found, options);
}

async function mutateRoom(
  room: Room,
  sources: string[],
  options: MutateRoomOptions,
): Promise<MutationReport> {
  const { sample } = options;
  const prefix = `${KEPT}/${room.name.replace("/", "-")}${sample === undefined ? "" : ".sample"}`;
  const kept = (name: string): string => `${prefix}.${name}.json`;
  const at = (name: string): string => path.join(repositoryRoot, kept(name));
  if (options.again) rmSync(at("known"), { force: true });
  rmSync(at("report"), { force: true });
  const read = (file: string) => [file, readFileSync(path.join(repositoryRoot, file), "utf8")] as const;
  const sampled = sample === undefined ? undefined : sampleLines(new Map(sources.map(read)), sample);
  const settings = {
    mutate: sampled === undefined ? sources : patternsOf(sampled),
    tallystickTests: filesOf(room.tests),
    tallystickTestMs: room.longestTestMs ?? LONGEST_TEST_MS,
    testRunner: "tallystick-mocha",
    plugins: [path.join(import.meta.dirname, "mochaRunner.mjs")],
    // As in the other tests. tsx would load some modules twice, once as CommonJS, and then an error is no TallystickError.
    testRunnerNodeArgs: ["--import", path.join(repositoryRoot, "scripts/processes/readTypeScript.mjs")],
    symlinkNodeModules: false,
    buildCommand: [process.execPath, linkPackages, path.join(repositoryRoot, "node_modules")]
      .map((word) => word.replaceAll(" ", "\\ "))
      .join(" "),
    coverageAnalysis: "perTest",
    // Mutants that act only while a file is loaded are left out. Each would need a process of its own and the
    // whole suite. The outcome says how many there are.
    ignoreStatic: true,
    incremental: true,
    incrementalFile: kept("known"),
    reporters: ["progress-append-only", "tallystick-survivors", "json"],
    jsonReporter: { fileName: kept("report") },
    tempDirName: `${KEPT}/copies`,
    ignorePatterns: LEFT_OUT,
    // TypeScript 7 has no API with which Stryker could read a configuration.
    tsconfigFile: "no-tsconfig.json",
    concurrency: options.concurrency ?? 2,
    // On a busy machine, tests without an endless loop can take almost as long as this.
    timeoutMS: 60_000,
    dryRunTimeoutMinutes: 20,
    allowEmpty: true,
  };
  writeFileSync(at("settings"), JSON.stringify(settings));
  await runStryker(kept("settings"), room.environment);
  const found: MutationReport = JSON.parse(readFileSync(at("report"), "utf8"));
  return sampled === undefined ? found : onlySampled(found, sampled);
}

/**
 * @throws TallystickError `mutation_failed` when Stryker does not finish, for example because tests fail without a
 * mutant
 */
async function runStryker(settings: string, environment: Room["environment"]): Promise<void> {
  const program = path.join(repositoryRoot, "node_modules/@stryker-mutator/core/bin/stryker.js");
  const child = spawn(process.execPath, [program, "run", settings], {
    cwd: repositoryRoot,
    env: { ...process.env, ...environment },
    // Its progress goes to standard error, because standard output is for the outcome.
    stdio: ["ignore", 2, 2],
  });
  const [code, signal] = await once(child, "exit");
  if (code === 0) return;
  throw new TallystickError({
    code: "mutation_failed",
    message: `Stryker ended with ${signal ?? `code ${code}`}.`,
    hint: "Its output is above. All tests of a room must pass before the room is mutated.",
  });
}

function report(name: string, found: MutationReport, { json, sample }: MutateRoomOptions): number {
  const mutants = mutantsOf(found);
  const known = readArguments().filter((one) => found.files[one.file] !== undefined);
  const argued = sample === undefined ? known : arguedInSample(mutants, known);
  const verdict = judgeRoom(mutants, argued);
  const { files, survivors, stale, isGood } = verdict;
  if (json) process.stdout.write(`${JSON.stringify({ mutants, ...verdict }, null, 2)}\n`);
  else process.stdout.write(`${table(files)}\n`);
  for (const { status, file: at, line, id } of survivors)
    process.stderr.write(`${styleText("red", status.padEnd(10))} ${at}:${line} ${id}\n`);
  for (const { file: at, id } of stale) process.stderr.write(`an argument, but no survivor: ${at} ${id}\n`);
  process.stderr.write(`${name}: ${summaryOf(verdict)}\n`);
  return isGood ? 0 : 1;
}

/**
 * The arguments for mutants of a sample. The number at the end of an id counts the equal mutants of a whole file, so a
 * sample cannot know it.
 */
function arguedInSample(mutants: readonly RoomMutant[], argued: readonly Argument[]): Argument[] {
  const withoutNumber = (id: string): string => id.slice(0, id.lastIndexOf("|"));
  return mutants.flatMap(({ file, id, status }) => {
    if (status !== "Survived" && status !== "NoCoverage") return [];
    const it = argued.find((one) => one.file === file && withoutNumber(one.id) === withoutNumber(id));
    return it === undefined ? [] : [{ ...it, id }];
  });
}

function summaryOf({ noticed, survivors, argued, leftOut, percent }: RoomVerdict): string {
  const counted = noticed + survivors.length;
  return (
    `the tests notice ${noticed} of ${counted} mutants (${percent.toFixed(1)} %). ${argued} more have an argument, ` +
    `${leftOut} act only while a file is loaded and were left out.`
  );
}

function table(files: RoomVerdict["files"]): string {
  const head = ["file", "noticed", "of them late or crashed", "survived", "no test", "argued", "%"];
  const rows = new Table({ head, style: { head: [], border: [] } });
  rows.push(...files);
  return rows.toString();
}

function readArguments(): Argument[] {
  return JSON.parse(readFileSync(path.join(import.meta.dirname, "argued.json"), "utf8"));
}
