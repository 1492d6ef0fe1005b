import { readFileSync } from "node:fs";
import path from "node:path";
import { expect } from "chai";
import { Command } from "commander";
import { commands } from "../../scripts/cli/commands.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { codeOf } from "./support/code.ts";
import { documents, textOf } from "./support/documents.ts";

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), "utf8");
const { scripts } = JSON.parse(read("package.json")) as { scripts: { [name: string]: string } };

/** The program with all its commands. */
async function loadProgram(): Promise<Command> {
  const program = new Command("tallystick");
  for (const { load } of commands) (await load())(program);
  return program;
}

const longsOf = (command: Command): string[] =>
  command.options.flatMap(({ long, short }) => [long, short].filter((it) => it != null));

/** The options of a command and of all its subcommands. */
const allOptions = (command: Command): string[] => [
  ...longsOf(command),
  ...command.commands.flatMap((it) => allOptions(it)),
];

/** What is wrong with the words of a call; undefined if the call is valid. */
function problemOf(program: Command, words: readonly string[]): string | undefined {
  let command = program;
  let rest = words;
  const own: string[] = ["--help", "-h"];
  for (let next = below(command, rest[0]); next !== undefined; next = below(command, rest[0])) {
    command = next;
    rest = rest.slice(1);
    own.push(...longsOf(command));
  }
  if (command === program) {
    const [first] = rest;
    return first === undefined || first.startsWith("-") ? undefined : `there is no command ${first}`;
  }
  // A command with subcommands and without own arguments accepts no other word.
  const takesWords = command.registeredArguments.length > 0 || command.commands.length === 0;
  const [first = ""] = rest;
  if (!takesWords && /^[a-z]/.test(first)) return `${command.name()} has no command ${first}`;
  const wrong = rest.filter((word) => /^--?[a-z]/.test(word)).map((word) => word.split("=")[0] as string);
  const unknown = wrong.find((option) => !own.includes(option));
  return unknown === undefined ? undefined : `${command.name()} has no option ${unknown}`;
}

const below = (command: Command, word: string | undefined): Command | undefined =>
  command.commands.find((it) => it.name() === word);

/** The words of a line up to a comment, a pipe, or the next command. A text in quotes is one word. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/'[^']*'?|"[^"]*"?|[^\s'"]+/g)) {
    if (/^(?:[#|>;&]|<<|\|\|)/.test(word)) break;
    words.push(word.replace(/[,;]$/, ""));
  }
  return words;
}

/** The calls of the program in a line, directly or through npm. Each call is the words after the program's name. */
function callsIn(line: string): string[][] {
  const calls: string[][] = [];
  for (const [, rest = ""] of line.matchAll(
    /(?:^|[\s$(])(?:npm run -s tallystick --|tallystick|node scripts\/cli\.ts) ([a-z-].*)/g,
  ))
    calls.push(wordsOf(rest));
  for (const [, script = "", rest = ""] of line.matchAll(/\bnpm (?:run (?:-s )?)?([\w:-]+)(?: -- (.*))?/g)) {
    if (script === "tallystick") continue;
    const [, command] = /bootstrap\.mjs ([\w-]+)/.exec(scripts[script] ?? "") ?? [];
    if (command !== undefined) calls.push([command, ...wordsOf(rest)]);
  }
  return calls;
}

/** The npm scripts that a line runs. */
const scriptsIn = (line: string): string[] => [
  ...[...line.matchAll(/\bnpm run (?:-s )?([\w:-]+)/g)].map(([, name = ""]) => name),
  ...(/^(?:bench|soak|test|generate|dev|check|build|pictures):[\w-]+$/.exec(line) ?? []),
];

/** The lines of code in a document. A line that ends with a backslash is joined with the next line. */
function linesOf(markdown: string): string[] {
  const { inline, blocks } = codeOf(markdown);
  return [...inline, ...blocks.flatMap(({ text }) => text.replaceAll(/\\\n\s*/g, " ").split("\n"))];
}

/** Options of other programs that the documents name without the program. */
const OF_OTHERS = new Set([
  ...["--views-schema", "--hostname", "--coverage", "--import", "--randomly-seed", "--max-semi-space-size"],
  ...[
    "--initial-heap-size",
    "--min-semi-space-size",
    "--single-threaded-gc",
    "--heap-growing-percent",
    "--no-parallel-scavenge",
  ],
  ...["--profile", "--format", "--splitting", "--bundle", "--digest", "--fork-block-number"],
]);

describe("the commands in the documents", () => {
  let program: Command;
  before(async () => {
    program = await loadProgram();
  });

  it("are distinguished from other code", () => {
    expect(callsIn("npm run -s tallystick -- ledger pull --from URL   # a comment --no")).to.deep.equal([
      ["ledger", "pull", "--from", "URL"],
    ]);
    expect(callsIn("$ tallystick derive --from URL > file --x")).to.deep.equal([["derive", "--from", "URL"]]);
    expect(callsIn("npm run demo -- --keep")).to.deep.equal([["demo", "--keep"]]);
    expect(callsIn("npm start -- --save")).to.deep.equal([["start", "--save"]]);
    expect(callsIn("npm i tallystick-sdk; SELECT tallystick.agent")).to.deep.equal([]);
    expect(problemOf(program, ["ledger", "pul"])).to.equal("ledger has no command pul");
    expect(problemOf(program, ["search", "--max-prize", "1"])).to.equal("search has no option --max-prize");
    expect(problemOf(program, ["verify-legder", "f"])).to.equal("there is no command verify-legder");
    expect(problemOf(program, ["audits", "verify", "HIRE", "--rpc", "URL"])).to.equal(undefined);
    expect(problemOf(program, ["hire", "compute.math.numeric", "--resume"])).to.equal(undefined);
  });

  it("exist, and so do their options", () => {
    let calls = 0;
    const wrong: string[] = [];
    const configuration = [".env.example", "compose.yaml"].map((file) => [file, read(file)] as const);
    const pages = documents.map((name) => [name, linesOf(textOf(name))] as const);
    const comments = configuration.map(
      ([name, text]) =>
        [name, [...text.matchAll(/`([^`]+)`|\((tallystick [^)]+)\)/g)].map(([, a, b]) => a ?? b!)] as const,
    );
    for (const [name, lines] of [...pages, ...comments]) {
      for (const line of lines) {
        for (const words of callsIn(line)) {
          calls += 1;
          const problem = problemOf(program, words);
          if (problem !== undefined) wrong.push(`${name}: ${line}: ${problem}`);
        }
        for (const script of scriptsIn(line))
          if (!(script in scripts)) wrong.push(`${name}: ${line}: there is no script ${script}`);
      }
    }
    expect(wrong).to.deep.equal([]);
    expect(calls).to.be.above(180);
  });

  it("have all options that the documents name without a command", () => {
    const known = new Set([...allOptions(program), "--help"]);
    const alone = documents.flatMap((name) =>
      codeOf(textOf(name))
        .inline.filter((code) => /^(?:-- )?--[a-z]/.test(code))
        .flatMap((code) => wordsOf(code).map((word) => [name, word.split("=")[0] as string] as const)),
    );
    const options = alone.filter(([, word]) => /^--[a-z]/.test(word) && !OF_OTHERS.has(word));
    expect(options).to.have.length.above(100);
    expect(options.filter(([, word]) => !known.has(word))).to.deep.equal([]);
  });

  it("are exactly those of the table in the README", () => {
    const [, table = ""] = /\n## The command line\n([\s\S]*?)\n## /.exec(textOf("README.md")) ?? [];
    const rows = table.split("\n").filter((line) => line.startsWith("| `"));
    const named = rows.flatMap((row) =>
      codeOf(row.split(" | ")[0] as string).inline.map((it) => it.split(" ")[0]),
    );
    const shown = commands.filter(({ hidden }) => !hidden).map(({ name }) => name);
    expect([...new Set(named)].sort()).to.deep.equal(shown.sort());
  });
});
