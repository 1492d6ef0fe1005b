import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { shippedSettings } from "../shippedSettings.ts";
import type { Solver } from "./openSolver.ts";

const require = createRequire(import.meta.url);

/** The result for one `assert`: it always holds, it can be broken, or the solver does not know. */
export type Verdict = "proved" | "refuted" | "unknown";

export type CheckModelParameters = {
  solver: Solver;
  /** Path of the harness in the repository, and which contract of it to check. */
  source: string;
  contract: string;
  /** Texts that replace files of the repository, by path. Faults are inserted in this way. */
  replaced?: Record<string, string>;
  /** How much work Z3 may put into one assertion. */
  effort?: number;
};

/** Several times the effort of the hardest of our proofs. */
const EFFORT = 400_000;

type Message = { severity: string; formattedMessage: string };
type Output = {
  errors?: Message[];
  auxiliaryInputRequested?: { smtlib2queries?: Record<string, string> };
};

/**
 * Lets solc's model checker (SMTChecker, the BMC engine) check every `assert` of a harness. It checks each function of
 * the harness separately, with any arguments and from any possible state. So a proof holds after any sequence of calls.
 * It would follow only one round of a loop, so the checked code must not have loops, and the harnesses have none. For each
 * assertion solc writes one query, which asks for a way to break the assertion. Z3 finds such a way, or proves that there
 * is none.
 *
 * @returns a verdict per assertion
 * @throws Error when the source does not compile, has no assertion, or solc skips one
 */
export async function checkModel({
  solver,
  source,
  contract,
  replaced = {},
  effort = EFFORT,
}: CheckModelParameters): Promise<Verdict[]> {
  const output = run(source, contract, replaced);
  const queries = Object.values(output.auxiliaryInputRequested?.smtlib2queries ?? {});
  const asserted = read(source, replaced).match(/^ *assert\(/gm)?.length ?? 0;
  if (asserted === 0 || queries.length !== asserted) {
    throw new Error(`solc asks about ${queries.length} of ${asserted} assertions in ${source}`);
  }
  const verdicts: Verdict[] = [];
  for (const query of queries) {
    const answer = await solver.answer(query, effort);
    if (answer.startsWith("unsat")) verdicts.push("proved");
    else verdicts.push(answer.startsWith("sat") ? "refuted" : "unknown");
  }
  return verdicts;
}

let solc: { compile: (input: string, callbacks: unknown) => string } | undefined;

function run(source: string, contract: string, replaced: Record<string, string>): Output {
  solc ??= require("solc") as NonNullable<typeof solc>;
  const { evmVersion } = shippedSettings;
  const input = {
    language: "Solidity",
    sources: { [source]: { content: read(source, replaced) } },
    settings: {
      evmVersion,
      outputSelection: {},
      modelChecker: {
        engine: "bmc",
        targets: ["assert"],
        contracts: { [source]: [contract] },
        solvers: ["smtlib2"],
      },
    },
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
