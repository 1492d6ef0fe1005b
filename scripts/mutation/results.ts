import { createHash } from "node:crypto";
import { appendFileSync, globSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
import { repositoryRoot } from "../repositoryRoot.ts";
import type { Mutant } from "./mutant.ts";
import type { Outcome } from "./runSubject.ts";

const file = path.join(repositoryRoot, ".tallystick", "mutation.jsonl");

/** What is known of mutants, on disk, so that a run that breaks off goes on where it stopped. */
export type Results = { find: (mutant: Mutant) => Outcome | undefined; add: (outcome: Outcome) => void };

/**
 * Opens the results of earlier runs on the same contracts and tests; those on others do not count.
 *
 * @param folder the copy of the repository that is run
 * @param forget begin anew
 */
export function openResults(folder: string, forget: boolean): Results {
  if (forget) rmSync(file, { force: true });
  mkdirSync(path.dirname(file), { recursive: true });
  const of = digest(folder);
  const known = new Map<string, Outcome>();
  const key = (mutant: Mutant) => `${mutant.file} ${mutant.id}`;
  for (const text of readLines()) {
    const { of: itsOf, ...outcome } = JSON.parse(text) as Outcome & { of: string };
    if (itsOf === of) known.set(key(outcome), outcome);
  }
  return {
    find: (mutant) => known.get(key(mutant)),
    add: (outcome) => {
      known.set(key(outcome), outcome);
      appendFileSync(file, `${JSON.stringify({ of, ...outcome })}\n`);
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

function digest(folder: string): string {
  const hash = createHash("sha256");
  for (const name of globSync(["contracts/**/*.sol", "test/contracts/**/*.ts"], { cwd: folder }).sort()) {
    hash.update(`${name}\0`).update(readFileSync(path.join(folder, name)));
  }
  return hash.digest("hex").slice(0, 16);
}
