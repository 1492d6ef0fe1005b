import { readFileSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import { checkModel, type Verdict } from "./checkModel.ts";
import type { Solver } from "./openSolver.ts";
import type { InsertedFault, Property, TextChange } from "./properties.ts";

/** The result for one property. `proved` is true only if every assertion is proved. */
export type ProofResult = { proved: boolean; verdicts: Verdict[]; ms: number };

/** Tries to prove a property of the contracts. With `fault`, the contracts contain that fault. */
export async function proveProperty(
  { contract, abstraction }: Property,
  solver: Solver,
  fault?: InsertedFault,
): Promise<ProofResult> {
  const began = performance.now();
  const replaced: Record<string, string> = {};
  for (const change of [abstraction, fault])
    if (change) replaced[change.file] = applyChange(change, replaced);
  const source = `contracts/test/proofs/${contract}.sol`;
  const verdicts = await checkModel({ solver, source, contract, replaced });
  const proved = verdicts.every((verdict) => verdict === "proved");
  return { proved, verdicts, ms: performance.now() - began };
}

/**
 * Returns a file's text with a change applied. No file is written.
 *
 * @param replaced texts that already replace files
 * @throws Error when the file does not contain the text exactly once; then the file has changed, and the
 * change must be adapted
 */
export function applyChange(
  { file, find, replace }: TextChange,
  replaced: Record<string, string> = {},
): string {
  const parts = (replaced[file] ?? readFileSync(path.join(repositoryRoot, file), "utf8")).split(find);
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} of these, not 1: ${find}`);
  return parts.join(replace);
}
