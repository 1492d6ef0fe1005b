import { createHash } from "node:crypto";
import { appendFileSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "../../scripts/repositoryRoot.ts";
import type { Mutant } from "./mutant.ts";
import type { Outcome } from "./runSubject.ts";

const file = path.join(repositoryRoot, ".tallystick", "mutation.jsonl");

/** Deletes all stored results. */
export function forgetResults(): void {
  rmSync(file, { force: true });
}

/** The known outcomes of mutants, stored on disk, so that an interrupted run can continue. */
export type Results = { find: (mutant: Mutant) => Outcome | undefined; add: (outcome: Outcome) => void };

/**
 * Opens the results of earlier runs. Results of other contracts do not count. A killed mutant stays killed as long as
 * the test file that killed it is the same. A survivor counts only while all tests are the same.
 *
 * @param folder the copy of the repository that is run
 */
export function openResults(folder: string): Results {
  mkdirSync(path.dirname(file), { recursive: true });
  const contracts = digest(folder, ["contracts/{*,interfaces/*,libraries/*}.sol"]);
  // These are the Solidity files in contracts/test that the tests deploy. The tests run none of the Solidity tests.
  const deployed = ["contracts/test/!(*Handler|*.t).sol", "contracts/test/tokens/*.sol"];
  const support = digest(folder, ["test/contracts/support/**/*.ts", ...deployed]);
  const tests = digest(folder, ["test/contracts/**/*.ts", ...deployed]);
  /** Everything that an outcome depends on. */
  const ground = ({ outcome, killer }: Outcome): string => {
    if (outcome === "killed") return `${contracts} ${support} ${killer ? digest(folder, [killer]) : tests}`;
    return outcome === "survived" ? `${contracts} ${tests}` : contracts;
  };
  const key = (mutant: Mutant) => `${mutant.file} ${mutant.id}`;
  const known = new Map<string, Outcome>();
  for (const text of readLines()) {
    const { ground: its, ...outcome } = JSON.parse(text) as Outcome & { ground: string };
    if (its === ground(outcome)) known.set(key(outcome), outcome);
  }
  return {
    find: (mutant) => known.get(key(mutant)),
    add: (outcome) => {
      known.set(key(outcome), outcome);
      appendFileSync(file, `${JSON.stringify({ ground: ground(outcome), ...outcome })}\n`);
    },
  };
}

function readLines(): string[] {
  try {
    return readFileSync(file, "utf8")
      .split("\n")
      .filter((text) => text !== "");
  } catch {
    return [];
  }
}

const digests = new Map<string, string>();

function digest(folder: string, globs: string[]): string {
  const known = digests.get(globs.join());
  if (known !== undefined) return known;
  const hash = createHash("sha256");
  for (const name of globSync(globs, { cwd: folder }).sort()) {
    hash.update(`${name}\0`).update(readFileSync(path.join(folder, name)));
  }
  const answer = hash.digest("hex").slice(0, 16);
  digests.set(globs.join(), answer);
  return answer;
}
