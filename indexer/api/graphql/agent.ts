import type { FieldType } from "tallystick-derive/publishedField";
import { camelName, fieldNames, publishedFieldOf, publishedFields } from "tallystick-derive/publishedFields";
import { type OwnField, publishedField } from "tallystick-derive/reputationOf";
import type { Row } from "tallystick-derive/tables";
import { clusterOf as clusterOfRow } from "../rows/clusters.ts";
import { builder } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { queryError } from "./errors.ts";
import { NodeRef, registerNode } from "./node.ts";

/** An agent's row. Its public fields are computed when a query asks for them. */
export type Agent = { row: Row<"agent"> };

export const toAgent = (row: Row<"agent">): Agent => ({ row });

/**
 * The cluster that counts for an agent: its cluster of shared ownership, otherwise its cluster of similar listings.
 */
export function clusterOf({ row }: Agent, { load }: QueryContext): Promise<Row<"cluster"> | null> {
  return clusterOfRow(row, load.cluster);
}

const CapabilityCostRef = builder
  .objectRef<{ capability: string; medianUsdc: string }>("CapabilityCost")
  .implement({
    fields: (t) => ({
      capability: t.exposeString("capability"),
      medianUsdc: t.field({ type: "Usdc", resolve: (it) => it.medianUsdc }),
    }),
  });

const GRAPHQL_TYPES = {
  block: { type: "SafeInt", nullable: false },
  time: { type: "SafeInt", nullable: false },
  count: { type: "Int", nullable: false },
  weight: { type: "Float", nullable: false },
  rate: { type: "Float", nullable: true },
  latency: { type: "Float", nullable: true },
  stars: { type: "Float", nullable: true },
  usdc: { type: "Usdc", nullable: false },
  text: { type: "String", nullable: false },
  texts: { type: ["String"], nullable: false },
  flag: { type: "Boolean", nullable: false },
  id: { type: "ID", nullable: true },
  // The only field of this type, `avgCostPerCapability`, is defined below.
  prices: { type: "JSON", nullable: false },
} as const satisfies { [T in FieldType]: object };

/** Fields that need only the agent's own row. */
const PLAIN_FIELDS = fieldNames.filter(
  (name): name is Exclude<OwnField, "avg_cost_per_capability"> =>
    !["avg_cost_per_capability", "cluster_id", "cluster_size"].includes(name),
);

export const AgentRef = builder.objectRef<Agent>("Agent").implement({
  interfaces: [NodeRef],
  description:
    "A wallet that published a listing, took part in a counted hire or paid into an escrow. Rates and counts cover the 30 " +
    "days before the last tick, and a hire inside a cluster weighs less. They show the agent as a seller unless said " +
    "otherwise. A rate is null when there is nothing to divide by.",
  fields: (t) => ({
    id: t.id({ description: "Its address.", resolve: ({ row }) => row.id }),
    address: t.field({ type: "Address", resolve: ({ row }) => row.id }),
    privateMetrics: t.boolean({
      description:
        "Whether one of its listings asks for private metrics. Then every figure is given as its published bucket.",
      resolve: ({ row }) => row.privateListings > 0,
    }),
    avgCostPerCapability: t.field({
      description: publishedFields.avg_cost_per_capability.description,
      type: [CapabilityCostRef],
      resolve: async ({ row }, _, { load, takeRows }) => {
        takeRows(10);
        const prices = publishedField(row, "avg_cost_per_capability", await load.prices.load(row.id));
        return Object.entries(prices).map(([capability, medianUsdc]) => ({ capability, medianUsdc }));
      },
    }),
    clusterId: t.id({
      description: publishedFields.cluster_id.description,
      nullable: true,
      resolve: async (agent, _, context) => (await clusterOf(agent, context))?.id ?? null,
    }),
    clusterSize: t.int({
      description: publishedFields.cluster_size.description,
      resolve: async (agent, _, context) => (await clusterOf(agent, context))?.size ?? 1,
    }),
    ...Object.fromEntries(
      PLAIN_FIELDS.map((name) => {
        const { type, description } = publishedFieldOf(name);
        // The builder's types need one fixed type here, but the real type comes from the table.
        const as = GRAPHQL_TYPES[type] as { type: "JSON"; nullable: boolean };
        return [
          camelName(name),
          t.field({ ...as, description, resolve: ({ row }) => publishedField(row, name) }),
        ];
      }),
    ),
  }),
});

export const AgentConnection = builder.connectionObject(
  { type: AgentRef, name: "AgentConnection" },
  { name: "AgentEdge" },
);

/** The agent at an address, or null if the address is not an agent. */
export async function findAgent(address: string, { load }: QueryContext): Promise<Agent | null> {
  const row = await load.agent.load(address);
  return row === null ? null : toAgent(row);
}

/** A field with the agent whose address its parent names; null if the address is not an agent. */
export function agentAt<Parent>(address: (parent: Parent) => string) {
  return {
    type: AgentRef,
    nullable: true,
    resolve: (parent: Parent, _: unknown, context: QueryContext) => findAgent(address(parent), context),
  } as const;
}

registerNode("Agent", {
  form: /^0x[0-9a-fA-F]{40}$/,
  find: (id, context) => findAgent(id.toLowerCase(), context),
});

/** The most addresses in one query. A page has the same limit. */
const MAX_ADDRESSES = 100;

builder.queryField("agentsByAddress", (t) =>
  t.field({
    type: [AgentRef],
    nullable: { list: false, items: true },
    description: `The agents at up to ${MAX_ADDRESSES} addresses, in their order; null for an address that is not an agent.`,
    args: { addresses: t.arg({ type: ["Address"], required: true }) },
    resolve: (_, { addresses }, context) => {
      if (addresses.length > MAX_ADDRESSES)
        throw queryError("PAGE_TOO_LARGE", `Ask for at most ${MAX_ADDRESSES} addresses at once.`);
      context.takeRows(addresses.length);
      return addresses.map((address) => findAgent(address, context));
    },
  }),
);

builder.queryField("agent", (t) =>
  t.field({
    type: AgentRef,
    nullable: true,
    args: { address: t.arg({ type: "Address", required: true }) },
    resolve: (_, { address }, context) => findAgent(address, context),
  }),
);
