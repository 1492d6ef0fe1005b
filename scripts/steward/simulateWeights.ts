import type { DerivedLog } from "tallystick-derive/foldLog";
import type { Weights } from "tallystick-derive/steward/score";
import { STEWARD_TIERS, shareText } from "tallystick-derive/steward/stewardTier";
import type { Row } from "tallystick-derive/tables";

/** An agent's result under some weights: its score as a decimal, its tier, and its rank from 1. */
export type SimulatedScore = { score: string; tier: string; rank: number };

/** An agent's results under the published weights (`before`) and under the other weights (`after`). */
export type SimulatedMove = { agent: string; before: SimulatedScore; after: SimulatedScore };

export type Simulation = { agents: number; moved: SimulatedMove[] };

/**
 * Computes all trust scores of a log under other weights (T031). Everything is derived again, because the
 * score of an endorser changes the worth of its endorsements. SLAs, penalties and STEWARD's tiers change too.
 * Tiers of SHP do not depend on the score and do not change.
 *
 * @param derive derives the log; once with the published weights, once with the others
 * @returns the agents with a changed score, those with the largest change of rank first
 */
export async function simulateWeights(
  derive: (options: { stewardWeights?: Weights }) => Promise<DerivedLog>,
  weights: Weights,
): Promise<Simulation> {
  const before = scoresOf(await derive({}));
  const after = scoresOf(await derive({ stewardWeights: weights }));
  const moves = [...before].flatMap(([agent, was]): SimulatedMove[] => {
    const is = after.get(agent);
    return is === undefined || is.score === was.score ? [] : [{ agent, before: was, after: is }];
  });
  const places = ({ before: was, after: is }: SimulatedMove): number => Math.abs(was.rank - is.rank);
  moves.sort((a, b) => places(b) - places(a) || a.after.rank - b.after.rank || (a.agent < b.agent ? -1 : 1));
  return { agents: before.size, moved: moves };
}

/** Equal scores have the same rank. */
function scoresOf({ store }: DerivedLog): Map<string, SimulatedScore> {
  const rows = [...store.rows("steward").values()] as Row<"steward">[];
  const computed = rows.filter(({ computedTime }) => computedTime !== null);
  computed.sort((a, b) => b.score - a.score || (a.id < b.id ? -1 : 1));
  const scores = new Map<string, SimulatedScore>();
  let rank = 0;
  let last: number | undefined;
  for (const [place, { id, score, tier }] of computed.entries()) {
    if (score !== last) rank = place + 1;
    last = score;
    scores.set(id, { score: shareText(score), tier: STEWARD_TIERS[tier]?.name ?? "UNVERIFIED", rank });
  }
  return scores;
}
