import { readdirSync } from "node:fs";
import path from "node:path";
import { readTypeScript } from "../../scripts/processes/nodeProgram.ts";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { compilerEnvironment } from "../compilerEnvironment.ts";

/** One program of the test run. */
export type TestStep = {
  name: string;
  /** Arguments for node, relative to the repository. */
  args: string[];
  /** Whether it writes how many tests it ran to the file that TALLYSTICK_TEST_COUNTS names. */
  counts: boolean;
  /** Whether it needs the built contracts. */
  needsBuild: boolean;
  /** Environment variables for its program, in addition to those of this process. */
  env?: Record<string, string>;
};

/**
 * Set if the contracts are built already. Otherwise each program asks Hardhat again, and waits two seconds for the same
 * answer.
 */
export const BUILT = "TALLYSTICK_BUILT";

const endWithParent = ["--import", "./scripts/processes/endWithParent.ts"];
const programs = { lint: "node_modules/@biomejs/biome/bin/biome", types: "node_modules/typescript/bin/tsc" };

/** The step that others may need. */
export const BUILD = "build";

/** Compiles the contracts. */
export const buildStep: TestStep = {
  name: BUILD,
  args: ["node_modules/hardhat/dist/src/cli.js", "build"],
  counts: false,
  needsBuild: false,
};

/** The steps that begin before the TypeScript tests. */
const preparations: TestStep[] = [
  { name: "lint and format", args: [programs.lint, "check", "."], counts: false, needsBuild: false },
  buildStep,
  {
    name: "Solidity tests",
    args: [...readTypeScript, ...endWithParent, "tools/testing/solidityTests.ts"],
    counts: true,
    needsBuild: true,
  },
];

/**
 * All steps in the order in which they begin. Steps that need no contracts run while the contracts are built.
 */
export function allSteps(): TestStep[] {
  // By default TypeScript starts four checkers, and each computes the types of the libraries again.
  const types = {
    name: "types",
    args: [programs.types, "--noEmit", "--checkers", "1"],
    counts: false,
    needsBuild: true,
    env: compilerEnvironment,
  };
  const tests = testFolders().flatMap((folder) => {
    const apart = APART[folder];
    if (apart === undefined) return mochaStep(`test/${folder}`, [`test/${folder}/**/*.test.ts`]);
    return [
      mochaStep(`test/${folder}`, [
        `test/${folder}/*.test.ts`,
        `test/${folder}/!(${apart.join("|")})/**/*.test.ts`,
      ]),
      ...apart.map((room) => mochaStep(`test/${folder}/${room}`, [`test/${folder}/${room}/**/*.test.ts`])),
    ];
  });
  // These steps begin after the build.
  const afterBuild = tests.map((step) => (step.needsBuild ? { ...step, env: { [BUILT]: "1" } } : step));
  // The check of types begins early, because a long step at the end would run alone, on one core.
  return [...preparations, types, ...afterBuild];
}

/** The TypeScript tests of the files or globs given, by one mocha. */
export function chosenTests({ files, grep }: { files: string[]; grep?: string }): TestStep {
  return mochaStep("TypeScript tests", files.length > 0 ? files : ["test/**/*.test.ts"], grep);
}

const testRoot = path.join(repositoryRoot, "test");

/** The longest folders come first, so that the whole run ends early. A folder that is not named here comes after them. */
const LONGEST_FIRST = [
  "portal",
  "indexer",
  "e2e",
  "settlement",
  "scripts",
  "sdk",
  "tools",
  "derive",
  "contracts",
];

/** Rooms of a folder that run separately, because the whole folder would take longer than all others. */
const APART: Record<string, string[]> = {
  indexer: ["equivalence", "api"],
  scripts: ["commands"],
  tools: ["proofs"],
};

/** Folders whose tests do not use a contract. */
const WITHOUT_CONTRACTS = ["capabilities", "derive", "docs", "protocol"].map((folder) => `test/${folder}`);

function testFolders(): string[] {
  const rank = (folder: string) =>
    LONGEST_FIRST.includes(folder) ? LONGEST_FIRST.indexOf(folder) : LONGEST_FIRST.length;
  return readdirSync(testRoot, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && holdsTests(path.join(testRoot, entry.name)))
    .map((entry) => entry.name)
    .sort((a, b) => rank(a) - rank(b) || (a < b ? -1 : 1));
}

function holdsTests(folder: string): boolean {
  return readdirSync(folder, { recursive: true }).some((file) => String(file).endsWith(".test.ts"));
}

function mochaStep(name: string, files: string[], grep?: string): TestStep {
  const mocha = ["node_modules/mocha/lib/cli/cli.js", "--reporter", "./tools/testing/countingReporter.ts"];
  if (grep !== undefined) mocha.push("--fgrep", grep);
  const needsBuild = !WITHOUT_CONTRACTS.includes(name);
  return {
    name,
    args: [...readTypeScript, ...endWithParent, ...mocha, ...files],
    counts: true,
    needsBuild,
  };
}
