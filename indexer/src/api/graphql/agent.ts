import type { SQL } from "drizzle-orm";
import { and } from "ponder";
import * as schema from "../../../ponder.schema.ts";
import { type Reputation, reputationOf } from "../../derive/reputation.ts";
import type { Row } from "../../derive/tables.ts";
import { builder } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { keysetPage, type PageArgs } from "./keyset.ts";

/** An agent's row with the public fields it stands for. Those that need its cluster are resolved when asked for. */
type Agent = { row: Row<"agent">; fields: Reputation };

const toAgent = (row: Row<"agent">): Agent => ({ row, fields: reputationOf(row, null) });

const clusterOf = ({ row }: Agent, { load }: QueryContext) =>
  row.cluster === null ? null : load.cluster.load(row.cluster);

export const AgentRef = builder.objectRef<Agent>("Agent").implement({
  description:
    "A wallet that published a listing, took part in a counted hire or paid into an escrow. Rates and counts are those of " +
    "the rolling 30-day window as of the last tick, weighted inside clusters, and as a seller unless said otherwise; a rate " +
    "is null when there is nothing to divide by.",
  fields: (t) => ({
    id: t.id({ resolve: ({ row }) => row.id }),
    address: t.field({ type: "Address", resolve: ({ row }) => row.id }),
    registeredBlock: t.field({ type: "SafeInt", resolve: ({ fields }) => fields.registered_block }),
    registeredTime: t.field({ type: "SafeInt", resolve: ({ fields }) => fields.registered_time }),
    trustTier: t.int({ resolve: ({ fields }) => fields.trust_tier }),
    successRate: t.float({ nullable: true, resolve: ({ fields }) => fields.success_rate }),
    last30dHireCount: t.float({
      description:
        "Each hire counts 1, or 1/size of the cluster that buyer and seller shared when it was counted.",
      resolve: ({ fields }) => fields.last_30d_hire_count,
    }),
    last30dHireCountRaw: t.int({ resolve: ({ fields }) => fields.last_30d_hire_count_raw }),
    last24hVolumeUsdc: t.field({ type: "Usdc", resolve: ({ fields }) => fields.last_24h_volume_usdc }),
    refundRate: t.float({
      description: "Refunded share of its hires over platform escrow.",
      nullable: true,
      resolve: ({ fields }) => fields.refund_rate,
    }),
    freeHires: t.int({ resolve: ({ fields }) => fields.free_hires }),
    distinctBuyers: t.int({
      description: "A cluster is one.",
      resolve: ({ fields }) => fields.distinct_buyers,
    }),
    hiresBought: t.int({ description: "As a buyer.", resolve: ({ fields }) => fields.hires_bought }),
    silentTimeoutRate: t.float({
      description: "As a buyer: escrow hires left to time out after delivery, of all its escrow hires.",
      nullable: true,
      resolve: ({ fields }) => fields.silent_timeout_rate,
    }),
    refundAfterDeliveryRate: t.float({
      description: "As a buyer: escrow hires refunded after delivery, of all its escrow hires.",
      nullable: true,
      resolve: ({ fields }) => fields.refund_after_delivery_rate,
    }),
    signalsTripped: t.stringList({ resolve: ({ fields }) => fields.signals_tripped }),
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

/** Agents in the order in which they registered; `where` narrows them. */
export function agentPage(args: PageArgs, context: QueryContext, where?: SQL) {
  const { agent } = schema;
  return keysetPage(args, context, {
    order: [agent.registeredBlock, agent.registeredLog, agent.id],
    direction: "asc",
    select: async ({ after, order, limit }) => {
      const rows = await context.db
        .select()
        .from(agent)
        .where(and(where, after))
        .orderBy(...order)
        .limit(limit);
      return rows.map(toAgent);
    },
    keyOf: ({ row }) => [row.registeredBlock, row.registeredLog, row.id],
  });
}

/** The agent at an address, or null when nothing made it one. */
export async function findAgent(address: string, { load }: QueryContext): Promise<Agent | null> {
  const row = await load.agent.load(address);
  return row === null ? null : toAgent(row);
}

builder.queryFields((t) => ({
  agent: t.field({
    type: AgentRef,
    nullable: true,
    args: { address: t.arg({ type: "Address", required: true }) },
    resolve: (_, { address }, context) => findAgent(address, context),
  }),
  agents: t.connection(
    {
      description: "All agents, in the order in which they registered.",
      type: AgentRef,
      resolve: (_, args, context) => agentPage(args, context),
    },
    AgentConnection,
  ),
}));
