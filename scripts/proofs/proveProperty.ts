import { readFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "../repositoryRoot.ts";
import { type Assertion, checkModel } from "./checkModel.ts";
import type { Solver } from "./openSolver.ts";
import type { PlantedBug, Property } from "./properties.ts";

/** What became of a property; `proved` only when every assertion is. */
export type ProofResult = { proved: boolean; assertions: Assertion[]; ms: number };

/** Tries to prove a property of the contracts as they are or, with `bug`, of the contracts with that bug in them. */
export async function proveProperty(
  { contract, source }: Property,
  solver: Solver,
  bug?: PlantedBug,
): Promise<ProofResult> {
  const began = performance.now();
  const replaced = bug === undefined ? {} : { [bug.file]: plant(bug) };
  const assertions = await checkModel({ solver, source, contract, replaced });
  const proved = assertions.every(({ verdict }) => verdict === "proved");
  return { proved, assertions, ms: performance.now() - began };
}

/**
 * A file's text with the bug in it. Nothing is written.
 *
 * @throws Error when the text to change is not there exactly once: the bug has to be planted elsewhere, then
 */
export function plant({ file, find, replace }: PlantedBug): string {
  const parts = readFileSync(path.join(repositoryRoot, file), "utf8").split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} of these, not 1: ${find}`);
  return parts.join(replace);
}
