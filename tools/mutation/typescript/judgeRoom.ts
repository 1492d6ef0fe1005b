import { type Argument, same } from "../verdicts.ts";
import type { MutantStatus, RoomMutant } from "./mutantsOf.ts";

/**
 * `noticed`, `argued`, `leftOut`: numbers of mutants. `percent`: the share of noticed mutants, without those that have an
 * argument. `files`: a table row for each file. `stopped` counts the noticed mutants without a failed test: their
 * tests did not end, or their process crashed twice.
 */
export type RoomVerdict = {
  noticed: number;
  argued: number;
  leftOut: number;
  percent: number;
  files: [
    file: string,
    noticed: number,
    stopped: number,
    survived: number,
    noTest: number,
    argued: number,
    percent: string,
  ][];
  survivors: RoomMutant[];
  stale: Argument[];
  isGood: boolean;
};

/** The lowest share of mutants that must be noticed, in percent. */
export const MIN_PERCENT = 90;

/** Stryker says `RuntimeError` when a mutant ends the process of its tests, and a second process too. */
const STOPPED: MutantStatus[] = ["Timeout", "RuntimeError"];
const NOTICED: MutantStatus[] = ["Killed", ...STOPPED];
const UNNOTICED: MutantStatus[] = ["Survived", "NoCoverage"];

/**
 * Judges a room. It is good under two conditions. At least {@link MIN_PERCENT} percent of the mutants without an
 * argument are noticed, and no argument is about a mutant that is noticed or does not exist. Mutants that
 * do not compile or were left out are not counted.
 */
export function judgeRoom(runs: readonly RoomMutant[], argued: readonly Argument[]): RoomVerdict {
  const noticed = runs.filter(({ status }) => NOTICED.includes(status));
  const unnoticed = runs.filter(({ status }) => UNNOTICED.includes(status));
  const survivors = unnoticed.filter((one) => !argued.some(same(one)));
  const stale = argued.filter((one) => {
    const run = runs.find(same(one));
    return run === undefined || NOTICED.includes(run.status);
  });
  const percent = share(noticed.length, survivors.length);
  const files = [...new Set(runs.map(({ file }) => file))]
    .sort()
    .map((file): RoomVerdict["files"][number] => {
      const own = (all: readonly RoomMutant[]) => all.filter((one) => one.file === file);
      const noTest = own(survivors).filter(({ status }) => status === "NoCoverage").length;
      const stopped = own(noticed).filter(({ status }) => STOPPED.includes(status)).length;
      const left = own(survivors).length;
      const killed = own(noticed).length;
      const spoken = own(unnoticed).length - left;
      return [file, killed, stopped, left - noTest, noTest, spoken, share(killed, left).toFixed(1)];
    });
  return {
    noticed: noticed.length,
    argued: unnoticed.length - survivors.length,
    leftOut: runs.filter(({ status }) => status === "Ignored").length,
    percent,
    files,
    survivors,
    stale,
    isGood: percent >= MIN_PERCENT && stale.length === 0,
  };
}

function share(noticed: number, left: number): number {
  return noticed + left === 0 ? 100 : (100 * noticed) / (noticed + left);
}
