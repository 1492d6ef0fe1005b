import type { Attestation, TestRun } from "tallystick-protocol/records/attestation";
import type { ApplyContext } from "../applyContext.ts";
import type { RecordEvent } from "../events.ts";
import { ensureSteward } from "./stewardRow.ts";

/** Stores an agent's new attestation. The agent's score uses it in place of the previous one. */
export function attestationSettled(context: ApplyContext, event: RecordEvent, body: Attestation): void {
  const row = ensureSteward(context, body.agent_id);
  if (row === null) return;
  const { passing, total } = worstRun(body.runs);
  const told = {
    alias: body.alias ?? null,
    ranAt: body.ran_at,
    testsPassing: passing,
    testsTotal: total,
  };
  context.store.insert("attestation", {
    id: event.hash,
    agent: row.id,
    kind: event.signer === body.agent_id ? "self" : "attested",
    signer: event.signer,
    ...told,
    version: body.version,
    commit: body.commit,
    ciUrl: body.ci_url ?? null,
    coverageTool: body.coverage_tool ?? null,
    runs: JSON.stringify(body.runs),
    block: context.at.block,
    time: context.at.time,
  });
  context.store.update("steward", row.id, { attestation: event.hash, ...told });
}

/**
 * The run with the smallest share of passing tests. It is 0 of 0 if a run has no tests, or if the tests were not
 * repeated. Tests were repeated if two runs have different seeds, or if two runs without seeds had the same result for
 * each test (T011).
 */
export function worstRun(runs: readonly TestRun[]): { passing: number; total: number } {
  const none = { passing: 0, total: 0 };
  if (!wereRepeated(runs) || runs.some(({ total }) => total === 0)) return none;
  let worst = runs[0] as TestRun;
  for (const run of runs)
    if (BigInt(run.passing) * BigInt(worst.total) < BigInt(worst.passing) * BigInt(run.total)) worst = run;
  return { passing: worst.passing, total: worst.total };
}

function wereRepeated(runs: readonly TestRun[]): boolean {
  const seeds = new Set(runs.flatMap(({ seed }) => seed ?? []));
  if (seeds.size > 1) return true;
  const unseeded = runs.filter(({ seed }) => seed === undefined).map((it) => it.outcomes_hash);
  return new Set(unseeded).size < unseeded.length;
}
