import { parseRational, roundHalfUp } from "./rational.ts";
import type { Row } from "./tables.ts";

/**
 * An agent's rank in a search. It is coarse, so a hire seldom changes it. It is copied to each of its
 * listings, so that a search reads its results in order from one index.
 */
export type SearchRank = Pick<Row<"agent">, "rank" | "successPercent" | "starTenths">;

type Figures = Pick<
  Row<"agent">,
  "trustTier" | "ratedWeight" | "successWeight" | "windowWeight" | "avgStars" | "privateListings"
>;

const MAX_TIER = 2;
const NANO = 1_000_000_000n;
const MAX_DIGITS = 31;

/**
 * The published ranking, as a number: a lower number comes first. A higher tier comes first, then a higher success rate
 * in whole percent (agents without a rate come last), then more digits in the weighted count of hires. Rates are cut
 * from their published nine decimals, or for agents with private metrics from the published bucket. So a search shows
 * nothing of these agents that their pages do not show.
 */
export function searchRankOf(agent: Figures): SearchRank {
  const isPrivate = agent.privateListings > 0;
  const rated = parseRational(agent.ratedWeight);
  let successPercent: number | null = null;
  if (rated.n > 0n) {
    const successes = parseRational(agent.successWeight);
    const rate = roundHalfUp({ n: successes.n * rated.d, d: successes.d * rated.n }, 9);
    successPercent = isPrivate ? Number((rate * 10n) / NANO) * 10 : Number((rate * 100n) / NANO);
  }
  let starTenths: number | null = null;
  if (agent.avgStars !== null) {
    const stars = roundHalfUp(parseRational(agent.avgStars), 9);
    starTenths = isPrivate ? Number((stars * 2n) / NANO) * 5 : Number((stars * 10n) / NANO);
  }
  const { n, d } = parseRational(agent.windowWeight);
  const hires = n / d;
  const digits = Math.min(hires === 0n ? 0 : hires.toString().length, MAX_DIGITS);
  const byRate = successPercent === null ? 101 : 100 - successPercent;
  const rank = ((MAX_TIER - agent.trustTier) * 102 + byRate) * (MAX_DIGITS + 1) + (MAX_DIGITS - digits);
  return { rank, successPercent, starTenths };
}
