import type { SQL } from "drizzle-orm";
import { and, eq, gte, isNotNull, lte, or, sql } from "ponder";
import { searchRankOf } from "tallystick-derive/searchRank";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import { publishedFigures } from "../../src/publishedFigures.ts";
import { isMember, type WholeCluster } from "./clusters.ts";
import type { OrderKey, RowList } from "./list.ts";
import { hasScore, isSuspended, paysBy } from "./listings.ts";

/**
 * Conditions on agents. All of them must hold. One live listing must meet price (atomic units), latency and
 * payment mode together, and have the capability if one is given. A rate that is null reaches no minimum.
 */
export type AgentWhere = Partial<{
  capability: string | null;
  minTrustTier: number | null;
  minSuccessRate: number | null;
  minAvgStars: number | null;
  minIndependentBuyers: number | null;
  /** Atomic units. */
  minKeptUsdc: bigint | null;
  minReceiptCoverage: number | null;
  /** The lowest trust score. */
  minStewardScore: number | null;
  minStewardTier: number | null;
  /** False leaves out agents that are suspended now. */
  includeSuspended: boolean | null;
  maxPriceUsdc: bigint | null;
  maxLatencyMs: number | null;
  /** One mode, or any platform escrow (see {@link paysBy}). */
  paymentMode: string | null;
  /** True: agents in any cluster. False: agents in none. */
  clustered: boolean | null;
  /** Agents in this cluster. No agent is in an unknown cluster. */
  cluster: WholeCluster | "unknown" | undefined;
}>;

/**
 * Figures are the published ones, so agents with private metrics are ordered by their buckets. Agents without a
 * figure come last.
 */
export type AgentOrder = "registered" | "newest" | "rank" | keyof typeof publishedFigures;

const { agent, listing } = schema;
const figure = (name: keyof typeof publishedFigures): OrderKey => ({
  expression: publishedFigures[name](agent),
  type: "numeric",
});

const ORDERS: Record<AgentOrder, Pick<RowList<unknown>, "order" | "direction">> = {
  registered: { order: [agent.registeredBlock, agent.registeredLog, agent.id], direction: "asc" },
  newest: { order: [agent.registeredBlock, agent.registeredLog, agent.id], direction: "desc" },
  rank: { order: [agent.rank, agent.id], direction: "asc" },
  successRate: { order: [figure("successRate"), agent.id], direction: "desc" },
  hires: { order: [figure("hires"), agent.id], direction: "desc" },
  volume: { order: [figure("volume"), agent.id], direction: "desc" },
  stars: { order: [figure("stars"), agent.id], direction: "desc" },
  families: { order: [figure("families"), agent.id], direction: "desc" },
  kept: { order: [figure("kept"), agent.id], direction: "desc" },
  coverage: { order: [figure("coverage"), agent.id], direction: "desc" },
};

/** Without an explicit order the list follows the most selective filter, so that its pages are full. */
function naturalOrder(where: AgentWhere): AgentOrder {
  if (known(where.capability) || where.cluster) return "registered";
  if (known(where.minTrustTier)) return "rank";
  if (known(where.minSuccessRate)) return "successRate";
  if (known(where.minAvgStars)) return "stars";
  if (known(where.minIndependentBuyers)) return "families";
  if (known(where.minKeptUsdc)) return "kept";
  return known(where.minReceiptCoverage) ? "coverage" : "registered";
}

/** The agents that meet every condition, in the order of an index. */
export function agentList(
  where: AgentWhere,
  orderBy: AgentOrder = naturalOrder(where),
): RowList<Row<"agent">> {
  const list = { table: agent, ...ORDERS[orderBy] };
  const conditions = agentConditions(where);
  const found = candidates(where);
  // There are few candidates, so all their rows may be read, and every page but the last is full.
  if (found !== undefined) return { ...list, where: and(found, ...Object.values(conditions)) };
  const { [orderBy]: along, ...others } = conditions;
  return { ...list, where: along, filter: and(...Object.values(others)) };
}

/**
 * Selects the agents of a capability or of a cluster by their ids first, so that Postgres cannot plan the query
 * in another order.
 */
function candidates(where: AgentWhere): SQL | undefined {
  const { capability } = where;
  const offers = listingConditions(where);
  const members = where.cluster && (where.cluster === "unknown" ? sql`false` : isMember(where.cluster));
  if (known(capability)) {
    const sellers = sql`${agent.id} = ANY (ARRAY(SELECT ${listing.agent} FROM ${listing} WHERE ${and(eq(listing.capability, capability), eq(listing.live, true), offers)}))`;
    return and(sellers, members);
  }
  return members && and(ids(members), offers && someListing(offers));
}

const ids = (condition: SQL) =>
  sql`${agent.id} = ANY (ARRAY(SELECT ${agent.id} FROM ${agent} WHERE ${condition}))`;

/**
 * The conditions on each agent. A condition that has the name of an order can limit what is read of that order's
 * index. The other conditions filter the rows.
 */
function agentConditions(
  where: AgentWhere,
): Partial<Record<AgentOrder | "clustered" | "offers" | "scored" | "unsuspended", SQL>> {
  const { minTrustTier, minSuccessRate, minAvgStars, clustered } = where;
  const { minIndependentBuyers, minKeptUsdc, minReceiptCoverage } = where;
  const least = (name: keyof typeof publishedFigures, value: number | bigint) =>
    and(sql`${publishedFigures[name](agent)} >= ${String(value < 0 ? 0 : value)}::numeric`) as SQL;
  const scored = hasScore(sql`${agent.id}`, {
    minScore: where.minStewardScore,
    minTier: where.minStewardTier,
  });
  const inCluster = or(isNotNull(agent.ownershipCluster), isNotNull(agent.fingerprintCluster)) as SQL;
  const offers = known(where.capability) || where.cluster ? undefined : listingConditions(where);
  return {
    ...(known(minTrustTier) && { rank: reachesTier(minTrustTier) }),
    ...(known(minSuccessRate) && { successRate: least("successRate", minSuccessRate) }),
    ...(known(minAvgStars) && { stars: least("stars", minAvgStars) }),
    ...(known(minIndependentBuyers) && { families: least("families", minIndependentBuyers) }),
    ...(known(minKeptUsdc) && { kept: least("kept", minKeptUsdc) }),
    ...(known(minReceiptCoverage) && { coverage: least("coverage", minReceiptCoverage) }),
    ...(known(clustered) && { clustered: clustered ? inCluster : sql`NOT (${inCluster})` }),
    ...(offers && { offers: someListing(offers) }),
    ...(scored && { scored }),
    ...(where.includeSuspended === false && { unsuspended: sql`NOT ${isSuspended(sql`${agent.id}`)}` }),
  };
}

/** The rank of an agent without a hire in a tier: the worst rank of the tier. */
function worstRankOf(trustTier: number): number {
  const none = {
    ratedWeight: "0",
    successWeight: "0",
    windowWeight: "0",
    avgStars: null,
    privateListings: 0,
  };
  return searchRankOf({ trustTier, ...none }).rank;
}

/**
 * A rank begins with the tier. So the second condition means the same as the first, in a form that the index of
 * ranks can use.
 */
function reachesTier(least: number): SQL {
  return and(gte(agent.trustTier, least), lte(agent.rank, worstRankOf(least))) as SQL;
}

/** Makes one look-up for each agent. Postgres may answer an EXISTS by reading all listings of all agents. */
function someListing(offers: SQL): SQL {
  return sql`(SELECT true FROM ${listing} WHERE ${and(eq(listing.agent, agent.id), eq(listing.live, true), offers)} LIMIT 1)`;
}

function listingConditions({ maxPriceUsdc, maxLatencyMs, paymentMode }: AgentWhere): SQL | undefined {
  return and(
    known(maxPriceUsdc) ? sql`${listing.price} <= ${String(maxPriceUsdc)}::numeric` : undefined,
    known(maxLatencyMs) ? lte(listing.maxLatencyMs, maxLatencyMs) : undefined,
    known(paymentMode) ? paysBy(paymentMode) : undefined,
  );
}

function known<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}
