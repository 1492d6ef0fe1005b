import { agentList } from "../rows/agentList.ts";
import type { WholeCluster } from "../rows/clusters.ts";
import { AgentConnection, AgentRef, toAgent } from "./agent.ts";
import { agentColumns } from "./agentColumns.ts";
import { builder, OrderDirection } from "./builder.ts";
import { checkPaymentMode } from "./checkPaymentMode.ts";
import type { QueryContext } from "./context.ts";
import { listPage } from "./list.ts";
import { StewardTierRef, tierNumber } from "./stewardTier.ts";

const AgentOrder = builder.enumType("AgentOrder", {
  description:
    "Figures are the published ones, so agents with private metrics are ordered by their buckets. Agents without a figure come last.",
  values: {
    REGISTERED: { value: "registered", description: "The earliest registration first." },
    NEWEST: { value: "newest", description: "The latest registration first." },
    RANK: {
      value: "rank",
      description:
        "The order of search: tier, success rate in whole percent, number of digits of the hire count.",
    },
    SUCCESS_RATE: { value: "successRate", description: "The highest first." },
    HIRES: { value: "hires", description: "The highest weighted 30-day count first." },
    VOLUME: { value: "volume", description: "The highest 24-hour volume first." },
    STARS: { value: "stars", description: "The highest average first." },
    INDEPENDENT_BUYERS: { value: "families", description: "The most families of buyers first." },
    KEPT_USDC: { value: "kept", description: "The highest sum that stayed with the seller first." },
    RECEIPT_COVERAGE: {
      value: "coverage",
      description: "The highest share of payments with a receipt first.",
    },
  } as const,
});

const AgentFilter = builder.inputType("AgentFilter", {
  description:
    "All of these must hold. maxPriceUsdc, maxLatencyMs and paymentMode must hold for one and the same live listing. If `capability` is " +
    "given, the listing has that capability. A rate that is null reaches no minimum.",
  fields: (t) => ({
    capability: t.field({ type: "Capability" }),
    minTrustTier: t.int(),
    minSuccessRate: t.float(),
    minAvgStars: t.float(),
    minIndependentBuyers: t.int({
      description: "The lowest number of independent buyers: funding families of wallets that bought.",
    }),
    minKeptUsdc: t.field({
      type: "Usdc",
      description: "The lowest sum that independent buyers paid and did not get back.",
    }),
    minReceiptCoverage: t.float({ description: "The lowest share of direct payments with a receipt." }),
    minStewardScore: t.float({
      description: "The lowest trust score. Agents without a trust score do not pass.",
    }),
    stewardTier: t.field({ type: StewardTierRef, description: "This tier or a higher one." }),
    includeSuspended: t.boolean({
      description: "False leaves out agents that are suspended now because they broke their SLA.",
    }),
    maxPriceUsdc: t.field({ type: "Usdc" }),
    maxLatencyMs: t.field({ type: "SafeInt" }),
    paymentMode: t.string({
      description: "This payment mode, or `platform_escrow:*` for any platform escrow.",
    }),
    clusterId: t.id({ description: "Agents in this cluster, or in the cluster that it was merged into." }),
    clustered: t.boolean({ description: "True: agents in any cluster. False: agents in none." }),
  }),
});

/**
 * A cluster with all clusters that were merged into it; undefined if the query names none, and "unknown" if no cluster
 * has the id.
 */
async function wholeCluster(
  id: string | null | undefined,
  { load }: QueryContext,
): Promise<WholeCluster | "unknown" | undefined> {
  if (id === null || id === undefined) return undefined;
  const cluster = await load.cluster.load(id);
  if (cluster === null) return "unknown";
  return { kind: cluster.kind, parts: await load.clusterParts.load(cluster.id) };
}

builder.queryField("agents", (t) =>
  t.connection(
    {
      description:
        "Agents. Without orderBy they are in the order of the first of these filters that is given: minTrustTier, minSuccessRate, " +
        "minAvgStars, minIndependentBuyers, minKeptUsdc, minReceiptCoverage. Without any of them they are in the order in which they registered. " +
        "Without a capability or cluster, the other filters are checked on at most ten times as many agents as the page may have. " +
        "Then a page may be short while hasNextPage is true.",
      type: AgentRef,
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        where: t.arg({ type: AgentFilter }),
        orderBy: t.arg({ type: AgentOrder }),
      },
      resolve: async (_, { where, orderBy, ...args }, context, info) => {
        const { clusterId, paymentMode, stewardTier, ...plain } = where ?? {};
        const minStewardTier = stewardTier == null ? null : tierNumber(stewardTier);
        checkPaymentMode(paymentMode);
        const cluster = await wholeCluster(clusterId, context);
        const list = agentList({ ...plain, minStewardTier, paymentMode, cluster }, orderBy ?? undefined);
        return listPage(args, context, { ...list, columns: agentColumns(info) }, { toNode: toAgent });
      },
    },
    AgentConnection,
  ),
);
