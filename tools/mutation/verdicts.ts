import type { Mutant } from "./mutant.ts";

/** An argument why a surviving mutant is no gap in the tests. */
export type Argument = { file: string; id: string; reason: string };

type Named = { file: string; id: string };

/** Whether two records are about the same mutant. */
export const same = (a: Named) => (b: Named) => a.file === b.file && a.id === b.id;

type Run = Mutant & { outcome: string };

/**
 * Compares the outcomes of mutants with the arguments for survivors.
 *
 * @param known the ids of all mutants of the examined files, whether they were run or not
 * @returns survivors without an argument, and arguments about mutants that were killed or do not exist
 */
export function judge<R extends Run>(
  outcomes: R[],
  argued: Argument[],
  known: { file: string; ids: string[] }[],
): { unargued: R[]; stale: Argument[] } {
  const unargued = outcomes.filter((one) => one.outcome === "survived" && !argued.some(same(one)));
  const stale = argued.filter((argument) => {
    const file = known.find((one) => one.file === argument.file);
    if (file === undefined) return false;
    const run = outcomes.find(same(argument));
    return !file.ids.includes(argument.id) || (run !== undefined && run.outcome !== "survived");
  });
  return { unargued, stale };
}
