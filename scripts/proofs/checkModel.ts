import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import hardhatConfig from "../../hardhat.config.ts";
import { repositoryRoot } from "../repositoryRoot.ts";
import type { Solver } from "./openSolver.ts";

const require = createRequire(import.meta.url);

/** What became of one `assert`: it holds always, there is a way to break it, or the solver could not tell. */
export type Verdict = "proved" | "refuted" | "unknown";

/** One `assert` of a harness, by its line (from 1) in the source. */
export type Assertion = { line: number; verdict: Verdict };

export type CheckModelParameters = {
  solver: Solver;
  /** Path of the harness in the repository, and which contract of it to check. */
  source: string;
  contract: string;
  /** Texts that take the place of files in the repository, by path: how a bug is planted. */
  replaced?: Record<string, string>;
  /** How much work Z3 may put into one assertion. */
  effort?: number;
};

/** Several times what the hardest of our proofs takes. */
const EFFORT = 60_000_000;

/** solc's codes for what it says about an assertion. */
const SAFE = "9576";
const VIOLATED = "6328";

type Message = {
  severity: string;
  errorCode?: string;
  message: string;
  formattedMessage: string;
  sourceLocation?: { file: string; start: number };
};
type Output = {
  errors?: Message[];
  auxiliaryInputRequested?: { smtlib2queries?: Record<string, string> };
};

/**
 * Has solc's model checker (SMTChecker, the CHC engine) look at every `assert` of a harness. solc writes one query per
 * assertion, Z3 answers them, and solc reads the answers in a second pass.
 *
 * @throws Error when the source does not compile, or has no assertion
 */
export async function checkModel({
  solver,
  source,
  contract,
  replaced = {},
  effort = EFFORT,
}: CheckModelParameters): Promise<Assertion[]> {
  const first = run(source, contract, replaced, {});
  const responses: Record<string, string> = {};
  for (const [hash, query] of Object.entries(first.auxiliaryInputRequested?.smtlib2queries ?? {})) {
    responses[hash] = await solver.answer(query, effort);
  }
  const second = run(source, contract, replaced, responses);
  const text = Buffer.from(read(source, replaced));
  const assertions: Assertion[] = [];
  for (const { errorCode, message, sourceLocation } of second.errors ?? []) {
    if (errorCode !== SAFE && errorCode !== VIOLATED) continue;
    const line = text
      .subarray(0, sourceLocation?.start ?? 0)
      .toString()
      .split("\n").length;
    const refuted = message.includes("happens here");
    assertions.push({ line, verdict: errorCode === SAFE ? "proved" : refuted ? "refuted" : "unknown" });
  }
  if (assertions.length === 0) throw new Error(`${contract} in ${source} asserts nothing`);
  return assertions.sort((a, b) => a.line - b.line);
}

let solc: { compile: (input: string, callbacks: unknown) => string } | undefined;

function run(
  source: string,
  contract: string,
  replaced: Record<string, string>,
  smtlib2responses: Record<string, string>,
): Output {
  solc ??= require("solc") as NonNullable<typeof solc>;
  const { evmVersion } = (hardhatConfig.solidity as { settings: { evmVersion: string } }).settings;
  const input = {
    language: "Solidity",
    sources: { [source]: { content: read(source, replaced) } },
    settings: {
      evmVersion,
      outputSelection: {},
      modelChecker: {
        engine: "chc",
        targets: ["assert"],
        contracts: { [source]: [contract] },
        solvers: ["smtlib2"],
        showProvedSafe: true,
        showUnproved: true,
      },
    },
    ...(Object.keys(smtlib2responses).length > 0 && { auxiliaryInput: { smtlib2responses } }),
  };
  const callbacks = { import: (name: string) => ({ contents: read(name, replaced) }) };
  const output = JSON.parse(solc.compile(JSON.stringify(input), callbacks)) as Output;
  const failed = output.errors?.find(({ severity }) => severity === "error");
  if (failed) throw new Error(failed.formattedMessage);
  return output;
}

function read(name: string, replaced: Record<string, string>): string {
  const folder = name.startsWith("contracts/") ? "." : "node_modules";
  return replaced[name] ?? readFileSync(path.join(repositoryRoot, folder, name), "utf8");
}
