import { type ScoreReport, type ScoreSources, scoreReport } from "tallystick-derive/steward/scoreReport";
import { linesOf } from "tallystick-derive/steward/sla/lines";
import type { Row } from "tallystick-derive/tables";

/** Reads rows by their ids. Unknown ids are left out. */
export type FindRows = <T extends "steward" | "sla" | "attestation" | "breach" | "guarantee">(
  table: T,
  ids: readonly string[],
) => Promise<Row<T>[]>;

/** A published trust score, and its source rows. */
export type PublishedScore = { report: ScoreReport; sources: ScoreSources };

/**
 * An agent's trust score with its parts; null before the score was first computed.
 *
 * @param time of the last tick, unix seconds
 */
export async function publishedScoreOf(
  find: FindRows,
  { id, claimStatus }: Pick<Row<"agent">, "id" | "claimStatus">,
  time: number,
): Promise<PublishedScore | null> {
  const [[row], [sla]] = await Promise.all([find("steward", [id]), find("sla", [id])]);
  if (row === undefined) return null;
  const [[attestation], [oldestGuarantee], breaches] = await Promise.all([
    row.scoredAttestation === null ? [] : find("attestation", [row.scoredAttestation]),
    find("guarantee", linesOf(sla?.binding).slice(0, 1)),
    find("breach", linesOf(sla?.breaches)),
  ]);
  const sources: ScoreSources = {
    row,
    attestation: attestation ?? null,
    sla: sla ?? null,
    oldestGuarantee: oldestGuarantee ?? null,
    breaches,
    claimStatus,
    time,
  };
  const report = scoreReport(sources);
  return report === null ? null : { report, sources };
}
