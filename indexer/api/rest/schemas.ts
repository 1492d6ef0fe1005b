import { z } from "@hono/zod-openapi";
import { type FieldType, units } from "tallystick-derive/publishedField";
import { type FieldName, fieldNames, publishedFieldOf } from "tallystick-derive/publishedFields";
import type { Reputation } from "tallystick-derive/reputation";
import { addressSchema } from "tallystick-protocol/address";
import { priceUsdcSchema } from "tallystick-protocol/amount";
import { capabilitySchema } from "tallystick-protocol/capabilitySchema";
import { paymentModeSchema } from "tallystick-protocol/records/paymentMode";
import { MAX_CURSOR } from "../cursor.ts";
import { ANY_PLATFORM_ESCROW } from "../rows/listings.ts";

// The inputs and outputs of the REST routes, in the shapes of SHP. Requests are checked against these
// schemas, and /openapi.json is made from them. So the description always fits the answers.

export const MAX_LIMIT = 100;

const address = z.string().openapi({
  description: "Wallet address, lower case",
  example: "0x52908400098527886e0f7030069857d2e4169ee7",
});
const hash = z.string().openapi({ description: "64 hex digits" });
const usdc = z.string().openapi({ description: "USDC, at most six decimals", example: "0.50" });
const rate = (description: string) => z.number().nullable().openapi({ description });
const seconds = z.int().openapi({ description: "Unix seconds" });

/** An agent in a path: any spelling of its address. */
export const agentParams = z.object({
  id: z
    .string()
    .transform((text) => text.toLowerCase())
    .pipe(addressSchema)
    .openapi({
      param: { name: "id", in: "path" },
      type: "string",
      description: "The agent's wallet address",
      example: "0x52908400098527886e0f7030069857d2e4169ee7",
    }),
});

const cursor = z.string().max(MAX_CURSOR).openapi({ description: "`next_cursor` of the page before" });

/** The parameters of a page. */
export const pageQuery = z.object({
  limit: z
    .string()
    .regex(/^[1-9][0-9]{0,2}$/, "must be a whole number from 1 to 100")
    .transform(Number)
    .refine((it) => it <= MAX_LIMIT, `must be at most ${MAX_LIMIT}; go on with next_cursor`)
    .default(20)
    .openapi({ param: { name: "limit", in: "query" }, type: "integer", minimum: 1, maximum: MAX_LIMIT }),
  cursor: cursor.optional(),
});

export const nextCursor = z
  .string()
  .nullable()
  .openapi({ description: "Give it as `cursor` for the next page; null: this was the last page" });

export const searchRequest = z
  .strictObject({
    // The schema may have been made before this module added `openapi` to zod, so a copy is used.
    capability: capabilitySchema.clone().openapi({ example: "text.translate.en.it" }),
    max_price_usdc: priceUsdcSchema.nullish(),
    max_latency_ms: z.int().positive().nullish(),
    min_success_rate: z.number().min(0).max(1).nullish(),
    min_avg_stars: z.number().min(0).max(5).nullish(),
    min_trust_tier: z.int().min(0).max(2).nullish(),
    min_independent_buyers: z.int().min(0).nullish().openapi({
      description: "The lowest number of independent buyers: funding families of wallets that bought",
    }),
    min_receipt_coverage: z.number().min(0).max(1).nullish().openapi({
      description: "The lowest share of direct payments with a receipt; a share that is null does not pass",
    }),
    min_kept_usdc: priceUsdcSchema
      .nullish()
      .openapi({ description: "The lowest sum that independent buyers paid and did not get back" }),
    payment_mode: z
      .union([z.literal(ANY_PLATFORM_ESCROW), paymentModeSchema])
      .nullish()
      .openapi({
        type: "string",
        description: "An exact mode, or `platform_escrow:*` for any escrow service",
        example: ANY_PLATFORM_ESCROW,
      }),
    min_verification_version: z
      .string()
      .regex(/^v(0|[1-9][0-9]{0,8})$/, "must be v and a number, like v1")
      .nullish()
      .openapi({ example: "v1" }),
    clarification_supported: z.boolean().nullish(),
    audited: z.boolean().nullish().openapi({
      description: "Whether the seller agreed to audits of an operator that this node follows (SHP §8.3)",
    }),
    erc8004: z.boolean().nullish().openapi({
      description: "Whether the seller has an identity of ERC-8004 now, in the registry that this node reads",
    }),
    steward_tier: z
      .enum(["UNVERIFIED", "VERIFIED", "TRUSTED", "HIGHLY_TRUSTED"])
      .nullish()
      .openapi({ description: "This tier of the trust score or a higher one (STEWARD)" }),
    min_steward_score: z.number().min(0).max(1).nullish().openapi({
      description: "The lowest trust score. Agents without a trust score do not pass, not even at 0",
    }),
    include_suspended: z
      .boolean()
      .nullish()
      .openapi({ description: "Also shows sellers that take no new hires now because they broke their SLA" }),
    order_by: z
      .enum(["ranking", "steward_score", "independent_buyers", "kept_usdc", "receipt_coverage"])
      .nullish()
      .openapi({
        description:
          "`ranking` is the published order. By any other figure the highest comes first, and equal offers are in the published order",
      }),
    limit: z.int().min(1).max(MAX_LIMIT).default(20),
    cursor: cursor.nullish(),
  })
  .openapi("SearchRequest");

export type SearchRequest = z.output<typeof searchRequest>;

const offerFields = {
  capability: z.string(),
  price_usdc: usdc,
  max_latency_ms: z.int(),
  payment_mode: z.string(),
  first_call_free: z.boolean(),
  endpoint: z.string(),
  payee: address.optional().openapi({ description: "Who is paid, if not the agent itself" }),
  verification_version: z.string().optional(),
  clarification_supported: z.boolean(),
  private_metrics: z.boolean(),
  entry_hash: hash.openapi({ description: "The ledger entry that carries the signed listing" }),
};

const clusterFields = {
  cluster_id: z.string().nullable(),
  cluster_size: z.int().openapi({ description: "1 outside clusters" }),
};

export const searchResponse = z
  .object({
    agents: z.array(
      z
        .object({
          agent_id: address,
          ...clusterFields,
          listing: z.object(offerFields),
          reputation: z.object({
            success_rate: rate("The success rate of the last 30 days; null without hires"),
            avg_latency_ms: rate("The average latency of the last 30 days"),
            last_30d_hire_count: z.number(),
            avg_stars: rate("The average, in which newer days weigh more"),
            total_ratings: z.int(),
            claim_status: z.string(),
            claimed: z.boolean(),
            trust_tier: z.int(),
            independent_buyers: z.int().openapi({ description: "Families of wallets that bought" }),
            kept_usdc: usdc.openapi({ description: "The sum that these families paid and did not get back" }),
            receipt_coverage: rate("Share of direct payments with a receipt"),
            ...clusterFields,
          }),
          steward: z
            .object({
              score: z.number(),
              tier: z.string(),
              suspended_until: z
                .int()
                .nullable()
                .openapi({ description: "It takes no new hires until then, unix seconds" }),
            })
            .nullable()
            .openapi({ description: "Its trust score, which is advice; null without one" }),
        })
        .openapi("SearchResult"),
    ),
    next_cursor: nextCursor,
  })
  .openapi("SearchResponse");

export type SearchResponse = z.infer<typeof searchResponse>;

const asOf = z
  .object({ block: z.int(), time: seconds })
  .openapi({ description: "The last tick: windows and expiries are as of this tick" });

const FIELD_SCHEMAS: { [T in FieldType]: z.ZodType } = {
  block: z.int(),
  time: seconds,
  count: z.int(),
  weight: z.number(),
  rate: z.number().nullable(),
  latency: z.number().nullable(),
  stars: z.number().nullable(),
  usdc,
  prices: z.record(z.string(), usdc),
  text: z.string(),
  texts: z.array(z.string()),
  flag: z.boolean(),
  id: z.string().nullable(),
};

/** Every published field of an agent. */
export const reputationFields = z.object(
  Object.fromEntries(
    fieldNames.map((name) => {
      const { type, description } = publishedFieldOf(name);
      return [name, FIELD_SCHEMAS[type].openapi({ description: `${description} (${units[type]})` })];
    }),
  ) as { [F in FieldName]: z.ZodType<Reputation[F]> },
);

export const reputationResponse = z
  .object({
    agent_id: address,
    ...reputationFields.shape,
    private_metrics: z.boolean().openapi({ description: "True: the values are published buckets" }),
    as_of: asOf,
  })
  .openapi("Reputation");

export type ReputationResponse = z.infer<typeof reputationResponse>;

export const clusterResponse = z
  .object({
    agent_id: address,
    ...clusterFields,
    signals_tripped: z.array(z.string()),
    co_members: z
      .array(address)
      .openapi({ description: "The other members, in the order of their registration" }),
    next_cursor: nextCursor,
  })
  .openapi("Cluster");

export type ClusterResponse = z.infer<typeof clusterResponse>;

export const listingsResponse = z
  .object({
    agent_id: address,
    listings: z.array(
      z
        .object({
          ...offerFields,
          retired: z.boolean(),
          issued_at: z.int().openapi({ description: "0 if the listing names no time" }),
          block: z
            .int()
            .openapi({ description: "The block of the anchor. The listing counts from this block on" }),
        })
        .openapi("Listing"),
    ),
    next_cursor: nextCursor,
  })
  .openapi("Listings");

export type ListingsResponse = z.infer<typeof listingsResponse>;

export const receiptsResponse = z
  .object({
    agent_id: address,
    receipts: z.array(
      z
        .object({
          receipt_hash: hash,
          agent_id: address,
          buyer: address,
          capability: z.string(),
          hire_id: z.string(),
          tx_hash: z.string(),
          log_index: z.int().nullable(),
          amount_usdc_atomic: z.string(),
          payee: address,
          escrow_id: z.string().nullable(),
          completed_at: seconds,
          time: seconds.openapi({
            description: "The block time of the anchor. The receipt counts from this time on",
          }),
          verification: z.object({ all_passed: z.boolean() }),
          latency_ms: z.int().nullable(),
          buyer_signed: z.boolean(),
          status: z.string().openapi({ description: "pending, counted, free, unmatched or duplicate" }),
          hire: z
            .object({
              id: z.string(),
              outcome: z.string().openapi({ description: "success, failure or neutral" }),
              evidence: z
                .string()
                .openapi({ description: "Whose word decides the outcome: audit, escrow, buyer or seller" }),
              dispute: z.boolean(),
              dispute_source: z.string().nullable(),
              weight: z.number(),
              time: seconds.openapi({ description: "When it was paid, or when its escrow was settled" }),
            })
            .nullable()
            .openapi({
              description: "The hire that it counted as; null until it is matched with a payment",
            }),
        })
        .openapi("Receipt"),
    ),
    next_cursor: nextCursor,
  })
  .openapi("Receipts");

export type ReceiptsResponse = z.infer<typeof receiptsResponse>;

export const paramsResponse = z
  .object({
    version: z.int(),
    params: z
      .record(z.string(), z.unknown())
      .openapi({ description: "Every threshold of the derivation, and its trust roots" }),
    reputation_fields: z.record(z.string(), z.object({ source: z.array(z.string()), cadence: z.string() })),
    search_ranking: z.array(z.string()),
    as_of: asOf,
  })
  .openapi("Params");

export type ParamsResponse = z.infer<typeof paramsResponse>;

export const problemSchema = z
  .object({
    code: z.string(),
    title: z.string(),
    status: z.int(),
    detail: z.string(),
    hint: z.string().optional(),
    errors: z.array(z.object({ field: z.string(), message: z.string() })).optional(),
  })
  .openapi("Problem");
