import { publishedField } from "tallystick-derive/reputationOf";
import type { Row } from "tallystick-derive/tables";
import { builder } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { NodeRef, registerNode } from "./node.ts";

/** An agent's row; the public fields it stands for are worked out when they are asked for. */
export type Agent = { row: Row<"agent"> };

export const toAgent = (row: Row<"agent">): Agent => ({ row });

/** The cluster it goes by: of shared ownership, else of listings alike. */
export function clusterOf({ row }: Agent, { load }: QueryContext): Promise<Row<"cluster"> | null> | null {
  const first = row.ownershipCluster ?? row.fingerprintCluster;
  return first === null ? null : load.cluster.load(first);
}

const CapabilityCostRef = builder
  .objectRef<{ capability: string; medianUsdc: string }>("CapabilityCost")
  .implement({
    fields: (t) => ({
      capability: t.exposeString("capability"),
      medianUsdc: t.field({ type: "Usdc", resolve: (it) => it.medianUsdc }),
    }),
  });

export const AgentRef = builder.objectRef<Agent>("Agent").implement({
  interfaces: [NodeRef],
  description:
    "A wallet that published a listing, took part in a counted hire or paid into an escrow. Rates and counts are those of " +
    "the rolling 30-day window as of the last tick, weighted inside clusters, and as a seller unless said otherwise; a rate " +
    "is null when there is nothing to divide by.",
  fields: (t) => ({
    id: t.id({ description: "Its address.", resolve: ({ row }) => row.id }),
    address: t.field({ type: "Address", resolve: ({ row }) => row.id }),
    registeredBlock: t.field({
      type: "SafeInt",
      resolve: ({ row }) => publishedField(row, "registered_block"),
    }),
    registeredTime: t.field({
      type: "SafeInt",
      resolve: ({ row }) => publishedField(row, "registered_time"),
    }),
    privateMetrics: t.boolean({
      description:
        "A listing of its asks for private metrics: every figure is given as the published bucket it is in.",
      resolve: ({ row }) => row.privateListings > 0,
    }),
    trustTier: t.int({ resolve: ({ row }) => publishedField(row, "trust_tier") }),
    successRate: t.float({ nullable: true, resolve: ({ row }) => publishedField(row, "success_rate") }),
    last30dHireCount: t.float({
      description:
        "Each hire counts 1, or 1/size of the cluster that buyer and seller shared when it was counted.",
      resolve: ({ row }) => publishedField(row, "last_30d_hire_count"),
    }),
    last30dHireCountRaw: t.int({ resolve: ({ row }) => publishedField(row, "last_30d_hire_count_raw") }),
    last24hVolumeUsdc: t.field({
      type: "Usdc",
      resolve: ({ row }) => publishedField(row, "last_24h_volume_usdc"),
    }),
    avgLatencyMs: t.float({ nullable: true, resolve: ({ row }) => publishedField(row, "avg_latency_ms") }),
    avgLatencyMsP50: t.float({
      nullable: true,
      resolve: ({ row }) => publishedField(row, "avg_latency_ms_p50"),
    }),
    avgLatencyMsP95: t.float({
      nullable: true,
      resolve: ({ row }) => publishedField(row, "avg_latency_ms_p95"),
    }),
    avgLatencyMsP99: t.float({
      nullable: true,
      resolve: ({ row }) => publishedField(row, "avg_latency_ms_p99"),
    }),
    avgCostPerCapability: t.field({
      description: "The median of what was paid for each capability.",
      type: [CapabilityCostRef],
      resolve: async ({ row }, _, { load, takeRows }) => {
        takeRows(10);
        const prices = publishedField(row, "avg_cost_per_capability", await load.prices.load(row.id));
        return Object.entries(prices).map(([capability, medianUsdc]) => ({ capability, medianUsdc }));
      },
    }),
    totalRatings: t.int({
      description: "By buyers, of all time.",
      resolve: ({ row }) => publishedField(row, "total_ratings"),
    }),
    avgStars: t.float({
      description: "Newer days weigh more: e^(-0.1) for each day of age.",
      nullable: true,
      resolve: ({ row }) => publishedField(row, "avg_stars"),
    }),
    auditPassRate: t.float({ nullable: true, resolve: ({ row }) => publishedField(row, "audit_pass_rate") }),
    disputeRate: t.float({
      description: "Share of its hires that an audit found bad.",
      nullable: true,
      resolve: ({ row }) => publishedField(row, "dispute_rate"),
    }),
    claimStatus: t.string({
      description: "unclaimed, claimed or verified: whether a human showed to own it.",
      resolve: ({ row }) => publishedField(row, "claim_status"),
    }),
    claimed: t.boolean({ resolve: ({ row }) => publishedField(row, "claimed") }),
    refundRate: t.float({
      description: "Refunded share of its hires over platform escrow.",
      nullable: true,
      resolve: ({ row }) => publishedField(row, "refund_rate"),
    }),
    freeHires: t.int({ resolve: ({ row }) => publishedField(row, "free_hires") }),
    distinctBuyers: t.int({
      description: "A cluster is one.",
      resolve: ({ row }) => publishedField(row, "distinct_buyers"),
    }),
    hiresBought: t.int({
      description: "As a buyer.",
      resolve: ({ row }) => publishedField(row, "hires_bought"),
    }),
    silentTimeoutRate: t.float({
      description: "As a buyer: escrow hires left to time out after delivery, of all its escrow hires.",
      nullable: true,
      resolve: ({ row }) => publishedField(row, "silent_timeout_rate"),
    }),
    refundAfterDeliveryRate: t.float({
      description: "As a buyer: escrow hires refunded after delivery, of all its escrow hires.",
      nullable: true,
      resolve: ({ row }) => publishedField(row, "refund_after_delivery_rate"),
    }),
    signalsTripped: t.stringList({ resolve: ({ row }) => publishedField(row, "signals_tripped") }),
    clusterId: t.id({
      nullable: true,
      resolve: async (agent, _, context) => (await clusterOf(agent, context))?.id ?? null,
    }),
    clusterSize: t.int({
      resolve: async (agent, _, context) => (await clusterOf(agent, context))?.size ?? 1,
    }),
  }),
});

export const AgentConnection = builder.connectionObject(
  { type: AgentRef, name: "AgentConnection" },
  { name: "AgentEdge" },
);

/** The agent at an address, or null when nothing made it one. */
export async function findAgent(address: string, { load }: QueryContext): Promise<Agent | null> {
  const row = await load.agent.load(address);
  return row === null ? null : toAgent(row);
}

registerNode("Agent", {
  form: /^0x[0-9a-fA-F]{40}$/,
  find: (id, context) => findAgent(id.toLowerCase(), context),
});

builder.queryField("agent", (t) =>
  t.field({
    type: AgentRef,
    nullable: true,
    args: { address: t.arg({ type: "Address", required: true }) },
    resolve: (_, { address }, context) => findAgent(address, context),
  }),
);
