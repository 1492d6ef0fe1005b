import { globSync } from "node:fs";
import { repositoryRoot } from "../../../scripts/repositoryRoot.ts";

/**
 * The files of globs, in the order of the globs, without the files of globs that begin with `!`. Paths are from the
 * repository's root.
 */
export function filesOf(globs: readonly string[]): string[] {
  const found = (glob: string): string[] => globSync(glob, { cwd: repositoryRoot }).sort();
  const out = new Set(globs.filter((one) => one.startsWith("!")).flatMap((one) => found(one.slice(1))));
  const taken = globs.filter((one) => !one.startsWith("!"));
  return [...new Set(taken.flatMap((one) => found(one).filter((it) => !out.has(it))))];
}
