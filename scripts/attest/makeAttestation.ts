import { InvalidInputError } from "tallystick-protocol/errors";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { parseAttestation } from "tallystick-protocol/records/attestation";
import { countRuns } from "./countRuns.ts";
import type { Report } from "./readReport.ts";

/** What the caller adds to the test reports. */
export type AttestationTerms = {
  agentId: string;
  version: string;
  commit: string;
  alias?: string | undefined;
  coverageTool?: string | undefined;
  ciUrl?: string | undefined;
  /** Unix seconds. */
  ranAt: number;
};

/** A report, and the seed that the caller gave for it. */
export type SeededReport = { report: Report; seed?: string | undefined };

/** The fields of an attestation, and notes about what is missing in them. */
export type MadeAttestation = { body: RecordBody; notes: string[] };

/**
 * Makes an attestation from the reports of test runners.
 *
 * @throws InvalidInputError when a seed contradicts its report, a report is given twice, or a field is
 * malformed
 */
export function makeAttestation(terms: AttestationTerms, given: readonly SeededReport[]): MadeAttestation {
  const issues = given.flatMap((one, index) => issuesOf(one, given.slice(0, index)));
  if (issues.length > 0) throw new InvalidInputError({ issues });
  const counted = countRuns(given.map(({ report }) => report.tests));
  const runs = given.map(({ report, seed = report.seed }, index) => {
    const { outcomes, ...counts } = counted[index] as (typeof counted)[number];
    return {
      ...(seed !== undefined && { seed }),
      ...counts,
      report_hash: `0x${report.hash}`,
      outcomes_hash: `0x${outcomes}`,
    };
  });
  const { agentId, version, commit, alias, coverageTool, ciUrl, ranAt } = terms;
  const body: RecordBody = {
    agent_id: agentId,
    ...(alias !== undefined && { alias }),
    version,
    commit,
    runs,
    ...(coverageTool !== undefined && { coverage_tool: coverageTool }),
    ...(ciUrl !== undefined && { ci_url: ciUrl }),
    ran_at: ranAt,
  };
  parseAttestation({ ...body, type: "attestation", ledger: "local" });
  return { body, notes: notesOn(runs) };
}

function issuesOf({ report, seed }: SeededReport, before: readonly SeededReport[]) {
  const issues: { field: string; message: string }[] = [];
  if (seed !== undefined && report.seed !== undefined && seed !== report.seed)
    issues.push({ field: "--seed", message: `is ${seed}, but ${report.file} says ${report.seed}` });
  if (before.some((other) => other.report.hash === report.hash))
    issues.push({ field: "--junit", message: `${report.file} is the same report again, not another run` });
  return issues;
}

type Run = { seed?: string; total: number; without_assertions?: number; outcomes_hash: string };

/** Notes about what is missing, and its effect on the score. */
function notesOn(runs: readonly Run[]): string[] {
  const seeds = runs.map(({ seed }) => seed);
  const hasTwoSeeds = new Set(seeds.filter((seed) => seed !== undefined)).size > 1;
  const unseeded = runs.filter(({ seed }) => seed === undefined).map((run) => run.outcomes_hash);
  const notes = [
    [
      seeds.includes(undefined),
      "A run has no seed: its runner does not write one, and --seed was not given.",
    ],
    [
      runs.some((run) => run.without_assertions === undefined),
      "Not every report says how often its tests assert. So tests that assert nothing are not recognized.",
    ],
    [runs.some(({ total }) => total === 0), "There are no tests: they count as 0."],
    [
      !hasTwoSeeds && new Set(unseeded).size === unseeded.length,
      "These runs count as 0. Two runs with different seeds are needed, or two runs without seeds in which every test has the same outcome.",
    ],
  ] as const;
  return notes.flatMap(([applies, note]) => (applies ? [note] : []));
}
