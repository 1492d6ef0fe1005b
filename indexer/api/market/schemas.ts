import { z } from "@hono/zod-openapi";
import { seriesFields, tally } from "../insights/schemas.ts";
import { nextCursor, pageQuery } from "../rest/schemas.ts";
import { GRAPH_LIMITS } from "../rows/clusterGraph.ts";

// The inputs and outputs of the routes of the market, clusters and escrows.

const address = z.string().openapi({ description: "Wallet address, lower case" });
const usdc = z.string().openapi({ description: "USDC, at most six decimals", example: "0.50" });
const seconds = z.int().openapi({ description: "Unix seconds" });
const tx = z.string().openapi({ description: "Hash of a transaction" });

/** The query of a page in one of a few orders. Default: the first order. */
const orderQuery = <Order extends string>(orders: readonly [Order, ...Order[]]) =>
  pageQuery.extend({
    order: z
      .enum(orders)
      .default(orders[0] as never)
      .openapi({ param: { name: "order", in: "query" } }),
  });

export const marketResponse = z
  .object({
    counts: z.object({
      agents: z.int(),
      sellers: z.int().openapi({ description: "Agents with a live listing" }),
      tier1_agents: z.int(),
      tier2_agents: z.int(),
      clustered_agents: z.int(),
      clusters: z.int(),
      listings: z.int().openapi({ description: "Live listings" }),
      capabilities: z.int().openapi({ description: "Capabilities with a live listing" }),
      ratings: z.int(),
      escrows_held: z.int(),
      held_usdc: usdc,
    }),
    window: tally.openapi({ description: "All hires of the rolling window" }),
    all_time: tally,
    ...seriesFields,
  })
  .openapi("Market");

export type MarketResponse = z.infer<typeof marketResponse>;

export const capabilitiesQuery = orderQuery(["listings", "hires", "name"]);

export const capabilitiesResponse = z
  .object({
    capabilities: z.array(
      z
        .object({
          capability: z.string(),
          listings: z.int().openapi({ description: "Live listings" }),
          sellers: z.int().openapi({ description: "Agents with such a listing" }),
          lowest_price_usdc: usdc.nullable(),
          median_price_usdc: usdc
            .nullable()
            .openapi({ description: "Of an even number of prices, the mean of the middle two" }),
          window: tally.nullable().openapi({
            description: "Its hires of the window; null where the operator sells insights",
          }),
        })
        .openapi("CapabilityMarket"),
    ),
    next_cursor: nextCursor,
  })
  .openapi("Capabilities");

export type CapabilitiesResponse = z.infer<typeof capabilitiesResponse>;

export const clustersQuery = orderQuery(["formed", "size"]);

const clusterFields = {
  cluster_id: z.string(),
  kind: z.string().openapi({ description: "ownership or fingerprint" }),
  size: z.int(),
  formed_block: z.int(),
  formed_time: seconds,
};

export const clustersResponse = z
  .object({ clusters: z.array(z.object(clusterFields)), next_cursor: nextCursor })
  .openapi("Clusters");

export type ClustersResponse = z.infer<typeof clustersResponse>;

export const clusterParams = z.object({
  id: z
    .string()
    .regex(/^clst_[A-Za-z0-9]{1,64}$/, "must be clst_ and letters and digits")
    .openapi({ param: { name: "id", in: "path" }, example: "clst_7G2K0V5Q8ZC4N6T1XW3R9YBMED" }),
});

export const graphQuery = z.object({
  members: z
    .string()
    .regex(/^[1-9][0-9]{0,3}$/, `must be a whole number from 1 to ${GRAPH_LIMITS.members}`)
    .transform(Number)
    .refine((it) => it <= GRAPH_LIMITS.members, `must be at most ${GRAPH_LIMITS.members}`)
    .default(GRAPH_LIMITS.members)
    .openapi({
      param: { name: "members", in: "query" },
      type: "integer",
      minimum: 1,
      maximum: GRAPH_LIMITS.members,
    }),
});

export const graphResponse = z
  .object({
    ...clusterFields,
    nodes: z.array(
      z.object({
        address,
        depth: z.int().openapi({ description: "How many transfers lead from it to a member; 0 for members" }),
        kind: z.string().nullable().openapi({ description: "hub or escrow, if it is one" }),
        is_agent: z.boolean(),
        trust_tier: z.int().nullable(),
        last_30d_hire_count: z.number().nullable().openapi({ description: "Dampened inside clusters" }),
        last_30d_hire_count_raw: z.number().nullable(),
      }),
    ),
    edges: z.array(
      z.object({
        from: address,
        to: address,
        amount_usdc: usdc.nullable(),
        block: z.int(),
        time: seconds,
        log: z.int(),
        reason: z.string().openapi({ description: "funding or paid_for_hire" }),
      }),
    ),
    signals: z.array(
      z.object({
        id: z.string(),
        signal: z.string().openapi({ description: "funding_origin or deploy_batch" }),
        funder: address,
        members: z.array(address).openapi({ description: `The first ${GRAPH_LIMITS.named}` }),
        member_count: z.int(),
        dropped: z.boolean().openapi({
          description: "Whether it was dropped, because its funder was published as a hub later",
        }),
      }),
    ),
    is_whole: z.boolean().openapi({ description: "False when a limit left something out" }),
  })
  .openapi("ClusterGraph");

export type GraphResponse = z.infer<typeof graphResponse>;

export const counterpartiesQuery = pageQuery.extend({
  as: z
    .enum(["seller", "buyer"])
    .default("seller")
    .openapi({ param: { name: "as", in: "query" }, description: "On which side the agent stood" }),
});

export const counterpartiesResponse = z
  .object({
    agent_id: address,
    counterparties: z.array(
      z.object({
        agent_id: address,
        figures: tally.nullable().openapi({ description: "Null when the seller has private metrics" }),
      }),
    ),
    next_cursor: nextCursor,
  })
  .openapi("Counterparties");

export type CounterpartiesResponse = z.infer<typeof counterpartiesResponse>;

export const escrowParams = z.object({
  id: z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(z.string().regex(/^0x[0-9a-f]{64}$/, "must be 0x and 64 hex digits"))
    .openapi({ param: { name: "id", in: "path" }, type: "string", description: "The escrowId" }),
});

export const escrowResponse = z
  .object({
    escrow_id: z.string(),
    contract: address,
    provider: z.string(),
    hire_id: z.string(),
    buyer: address,
    seller: address,
    payee: address,
    amount_usdc: usdc,
    fee_usdc: usdc,
    fee_recipient: address.nullable(),
    arbiter: address.nullable(),
    deadline: seconds,
    status: z.string().openapi({ description: "held, released, refunded or timed_out" }),
    delivered: z.boolean(),
    result_hash: z.string().nullable(),
    to_seller_usdc: usdc.nullable(),
    to_buyer_usdc: usdc.nullable(),
    refunded_by: address.nullable(),
    receipt_hash: z.string().nullable(),
    steps: z
      .array(z.object({ kind: z.string(), tx, block: z.int(), time: seconds, log: z.int() }))
      .openapi({ description: "What happened to it on the chain, in order" }),
  })
  .openapi("Escrow");

export type EscrowResponse = z.infer<typeof escrowResponse>;
