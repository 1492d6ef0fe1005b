import type { SQL } from "drizzle-orm";
import { and, eq, gte, isNotNull, lte, or, sql } from "ponder";
import { standingOf } from "tallystick-derive/standing";
import { paymentModeSchema } from "tallystick-protocol/records/paymentMode";
import * as schema from "../../ponder.schema.ts";
import { publishedFigures } from "../../src/publishedFigures.ts";
import { memberColumn } from "../rows/clusters.ts";
import { type Agent, AgentConnection, AgentRef, toAgent } from "./agent.ts";
import { agentColumns } from "./agentColumns.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { queryError } from "./errors.ts";
import { type ListOptions, listPage, type OrderKey } from "./list.ts";
import type { PageArgs } from "./pageArgs.ts";

const AgentOrder = builder.enumType("AgentOrder", {
  description:
    "Figures are the published ones: buckets for agents with private metrics. Those without one come last.",
  values: {
    REGISTERED: { value: "registered", description: "The first first." },
    NEWEST: { value: "newest", description: "The latest first." },
    RANK: {
      value: "rank",
      description: "As search ranks them: tier, success rate in whole percent, digits of the count.",
    },
    SUCCESS_RATE: { value: "successRate", description: "The highest first." },
    HIRES: { value: "hires", description: "The highest weighted 30-day count first." },
    VOLUME: { value: "volume", description: "The highest 24-hour volume first." },
    STARS: { value: "stars", description: "The highest average first." },
  } as const,
});
type AgentOrderName = "registered" | "newest" | "rank" | keyof typeof publishedFigures;

const AgentFilter = builder.inputType("AgentFilter", {
  description:
    "All of these must hold. maxPriceUsdc, maxLatencyMs and paymentMode must hold for one live listing, of `capability` if it " +
    "is given. A rate that is null reaches no minimum.",
  fields: (t) => ({
    capability: t.field({ type: "Capability" }),
    minTrustTier: t.int(),
    minSuccessRate: t.float(),
    minAvgStars: t.float(),
    maxPriceUsdc: t.field({ type: "Usdc" }),
    maxLatencyMs: t.field({ type: "SafeInt" }),
    paymentMode: t.string({
      description: "Exactly this one, or `platform_escrow:*` for any platform escrow.",
    }),
    clusterId: t.id({ description: "In this cluster, or in what it was merged into." }),
    clustered: t.boolean({ description: "In any cluster, or in none." }),
  }),
});

export type AgentWhere = Partial<{
  capability: string | null;
  minTrustTier: number | null;
  minSuccessRate: number | null;
  minAvgStars: number | null;
  maxPriceUsdc: bigint | null;
  maxLatencyMs: number | null;
  paymentMode: string | null;
  clusterId: string | null;
  clustered: boolean | null;
}>;

const { agent, listing } = schema;
const figure = (name: keyof typeof publishedFigures): OrderKey => ({
  expression: publishedFigures[name](agent),
  type: "numeric",
});

const ORDERS: Record<AgentOrderName, Pick<ListOptions<typeof agent, Agent>, "order" | "direction">> = {
  registered: { order: [agent.registeredBlock, agent.registeredLog, agent.id], direction: "asc" },
  newest: { order: [agent.registeredBlock, agent.registeredLog, agent.id], direction: "desc" },
  rank: { order: [agent.rank, agent.id], direction: "asc" },
  successRate: { order: [figure("successRate"), agent.id], direction: "desc" },
  hires: { order: [figure("hires"), agent.id], direction: "desc" },
  volume: { order: [figure("volume"), agent.id], direction: "desc" },
  stars: { order: [figure("stars"), agent.id], direction: "desc" },
};

/** Without an order the list is read along the most telling filter, so that its pages are full. */
function naturalOrder(where: AgentWhere): AgentOrderName {
  if (known(where.capability) || known(where.clusterId)) return "registered";
  if (known(where.minTrustTier)) return "rank";
  if (known(where.minSuccessRate)) return "successRate";
  return known(where.minAvgStars) ? "stars" : "registered";
}

type Columns = ListOptions<typeof agent, Agent>["columns"];

/** A page of agents. */
export async function agentPage(
  args: PageArgs,
  context: QueryContext,
  where: AgentWhere,
  { orderBy = naturalOrder(where), columns }: { orderBy?: AgentOrderName | undefined; columns?: Columns },
) {
  const conditions = agentConditions(where);
  const { capability, clusterId } = where;
  const anchor = await candidates(context, capability, clusterId, listingConditions(where));
  if (anchor !== undefined) {
    // The candidates are few, so all their rows may be looked at, and a page is full while there are enough.
    return listPage(args, context, {
      table: agent,
      ...ORDERS[orderBy],
      where: and(anchor, ...Object.values(conditions)),
      columns,
      toNode: toAgent,
    });
  }
  const { [orderBy]: along, ...others } = conditions;
  const rest = Object.values(others);
  return listPage(args, context, {
    table: agent,
    ...ORDERS[orderBy],
    where: along,
    filter: rest.length === 0 ? undefined : and(...rest),
    columns,
    toNode: toAgent,
  });
}

/** The agents of a capability or of a cluster: found first, by their ids, whatever the planner thinks of the rest. */
async function candidates(
  { load }: QueryContext,
  capability: string | null | undefined,
  clusterId: string | null | undefined,
  offers: SQL | undefined,
): Promise<SQL | undefined> {
  const cluster = known(clusterId) ? await membersOf(load, clusterId) : undefined;
  if (known(capability)) {
    const sellers = sql`${agent.id} = ANY (ARRAY(SELECT ${listing.agent} FROM ${listing} WHERE ${and(eq(listing.capability, capability), eq(listing.live, true), offers)}))`;
    return and(sellers, cluster);
  }
  return cluster === undefined ? undefined : and(ids(cluster), offers && someListing(offers));
}

const ids = (condition: SQL) =>
  sql`${agent.id} = ANY (ARRAY(SELECT ${agent.id} FROM ${agent} WHERE ${condition}))`;

async function membersOf(load: QueryContext["load"], clusterId: string): Promise<SQL> {
  const cluster = await load.cluster.load(clusterId);
  if (cluster === null) return sql`false`;
  return sql`${memberColumn(cluster)} = ANY (${sql.param(await load.clusterParts.load(cluster.id))}::text[])`;
}

/** What an agent's own row must say, by the order that reads along it. */
function agentConditions(where: AgentWhere): Partial<Record<AgentOrderName | "clustered" | "offers", SQL>> {
  const { minTrustTier, minSuccessRate, minAvgStars, clustered } = where;
  const least = (name: "successRate" | "stars", value: number) =>
    and(sql`${publishedFigures[name](agent)} >= ${Math.max(0, value)}::numeric`) as SQL;
  const inCluster = or(isNotNull(agent.ownershipCluster), isNotNull(agent.fingerprintCluster)) as SQL;
  const offers = known(where.capability) || known(where.clusterId) ? undefined : listingConditions(where);
  return {
    ...(known(minTrustTier) && { rank: reachesTier(minTrustTier) }),
    ...(known(minSuccessRate) && { successRate: least("successRate", minSuccessRate) }),
    ...(known(minAvgStars) && { stars: least("stars", minAvgStars) }),
    ...(known(clustered) && { clustered: clustered ? inCluster : sql`NOT (${inCluster})` }),
    ...(offers && { offers: someListing(offers) }),
  };
}

/** The rank of an agent of that tier without a hire. */
function worstRankOf(trustTier: number): number {
  const none = {
    ratedWeight: "0",
    successWeight: "0",
    windowWeight: "0",
    avgStars: null,
    privateListings: 0,
  };
  return standingOf({ trustTier, ...none }).rank;
}

/** The rank begins with the tier: the second condition is the same, in words that the index of ranks understands. */
function reachesTier(least: number): SQL {
  return and(gte(agent.trustTier, least), lte(agent.rank, worstRankOf(least))) as SQL;
}

/** One look-up for each agent; an EXISTS may be answered by reading all listings of all agents. */
function someListing(offers: SQL): SQL {
  return sql`(SELECT true FROM ${listing} WHERE ${and(eq(listing.agent, agent.id), eq(listing.live, true), offers)} LIMIT 1)`;
}

function listingConditions({ maxPriceUsdc, maxLatencyMs, paymentMode }: AgentWhere): SQL | undefined {
  return and(
    known(maxPriceUsdc) ? sql`${listing.price} <= ${String(maxPriceUsdc)}::numeric` : undefined,
    known(maxLatencyMs) ? lte(listing.maxLatencyMs, maxLatencyMs) : undefined,
    known(paymentMode) ? paymentModeIs(paymentMode) : undefined,
  );
}

function paymentModeIs(mode: string): SQL {
  if (mode === "platform_escrow:*") return sql`${listing.paymentMode} LIKE 'platform\\_escrow:%'`;
  if (paymentModeSchema.safeParse(mode).success && !mode.includes("\0")) return eq(listing.paymentMode, mode);
  throw queryError(
    "INVALID_ARGUMENT",
    "paymentMode must be direct, platform_escrow:<id>, platform_escrow:* or custom_escrow:<url>.",
  );
}

function known<T>(value: T | null | undefined): value is T {
  return value !== null && value !== undefined;
}

builder.queryField("agents", (t) =>
  t.connection(
    {
      description:
        "Agents. Without orderBy in the order in which they registered, or along minTrustTier, minSuccessRate or minAvgStars. " +
        "Without a capability or cluster, a filter that is not the order's is looked up in at most ten times as many agents as " +
        "the page may have: then a page may be short while hasNextPage is true.",
      type: AgentRef,
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        where: t.arg({ type: AgentFilter }),
        orderBy: t.arg({ type: AgentOrder }),
      },
      resolve: (_, { where, orderBy, ...args }, context, info) =>
        agentPage(args, context, where ?? {}, { orderBy: orderBy ?? undefined, columns: agentColumns(info) }),
    },
    AgentConnection,
  ),
);
