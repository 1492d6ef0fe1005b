import type { Row } from "tallystick-derive/tables";
import { listingsOf, offerList } from "../rows/listings.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import { checkPaymentMode } from "./checkPaymentMode.ts";
import { queryError } from "./errors.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";
import { StewardTierRef, tierNumber } from "./stewardTier.ts";

export const ListingRef = builder.objectRef<Row<"listing">>("Listing").implement({
  interfaces: [NodeRef],
  description: "A seller's offer, as it last published it.",
  fields: (t) => ({
    id: t.exposeID("id"),
    capability: t.exposeString("capability"),
    paymentMode: t.exposeString("paymentMode"),
    agentAddress: t.field({ type: "Address", resolve: (it) => it.agent }),
    agent: t.field(agentAt(({ agent }) => agent)),
    priceUsdc: t.field({ type: "Usdc", resolve: (it) => it.priceUsdc }),
    maxLatencyMs: t.field({ type: "SafeInt", resolve: (it) => it.maxLatencyMs }),
    endpoint: t.exposeString("endpoint"),
    firstCallFree: t.exposeBoolean("firstCallFree"),
    privateMetrics: t.exposeBoolean("privateMetrics"),
    clarificationSupported: t.exposeBoolean("clarificationSupported"),
    verificationVersion: t.exposeString("verificationVersion", { nullable: true }),
    auditOperator: t.field({
      type: "Address",
      nullable: true,
      description: "The operator to whose audits it agreed last (SHP §8.3).",
      resolve: (it) => it.auditOperator,
    }),
    auditFrom: t.field({
      type: "SafeInt",
      nullable: true,
      description: "The time from which its consent to audits, or its withdrawal, is in force.",
      resolve: (it) => it.auditFrom,
    }),
    live: t.exposeBoolean("live", { description: "False once the seller retired it." }),
    issuedAt: t.field({ type: "SafeInt", resolve: (it) => it.issuedAt }),
    payee: t.field({ type: "Address", nullable: true, resolve: (it) => it.payee }),
    recordHash: t.exposeString("hash", { description: "Hash of the ledger entry with this listing." }),
    block: t.field({ type: "SafeInt", resolve: (it) => it.block }),
  }),
});

const ListingConnection = builder.connectionObject(
  { type: ListingRef, name: "ListingConnection" },
  { name: "ListingEdge" },
);

const ListingOrder = builder.enumType("ListingOrder", {
  values: {
    RANK: {
      value: "rank",
      description: "The order of search: the seller's tier, success rate and hire count, then the price.",
    },
    PRICE: { value: "price", description: "The cheapest first; only with a capability." },
    NEWEST: { value: "newest", description: "The latest anchored first." },
  } as const,
});

const ListingFilter = builder.inputType("ListingFilter", {
  description: "All of these must hold.",
  fields: (t) => ({
    capability: t.field({ type: "Capability" }),
    paymentMode: t.string({
      description: "This payment mode, or `platform_escrow:*` for any platform escrow.",
    }),
    maxPriceUsdc: t.field({ type: "Usdc" }),
    maxLatencyMs: t.field({ type: "SafeInt" }),
    minTrustTier: t.int({ description: "The lowest trust tier of the seller." }),
    minIndependentBuyers: t.int({ description: "The lowest number of independent buyers of the seller." }),
    minKeptUsdc: t.field({
      type: "Usdc",
      description: "The lowest sum that independent buyers paid the seller and did not get back.",
    }),
    minReceiptCoverage: t.float({
      description: "The lowest share of direct payments with a receipt, of the seller.",
    }),
    minStewardScore: t.float({
      description: "The lowest trust score of the seller. Sellers without a trust score do not pass.",
    }),
    stewardTier: t.field({ type: StewardTierRef, description: "This tier or a higher one." }),
    includeSuspended: t.boolean({
      description: "Also shows sellers that are suspended now because they broke their SLA.",
    }),
    firstCallFree: t.boolean(),
    clarificationSupported: t.boolean(),
  }),
});

builder.queryField("listings", (t) =>
  t.connection(
    {
      description:
        "Live listings. Default order: the search rank. With filters a page may have fewer rows than asked for, although more follow (see agents).",
      type: ListingRef,
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        where: t.arg({ type: ListingFilter }),
        orderBy: t.arg({ type: ListingOrder }),
      },
      resolve: (_, { where, orderBy, ...args }, context) => {
        const order = orderBy ?? "rank";
        checkPaymentMode(where?.paymentMode);
        if (order === "price" && !where?.capability)
          throw queryError("INVALID_ARGUMENT", "Prices compare within one capability: name it in where.");
        const { stewardTier, ...plain } = where ?? {};
        const minStewardTier = stewardTier == null ? null : tierNumber(stewardTier);
        return listPage(args, context, offerList({ ...plain, minStewardTier }, order));
      },
    },
    ListingConnection,
  ),
);

builder.objectField(AgentRef, "listings", (t) =>
  t.connection(
    {
      type: ListingRef,
      description: "Its live listings.",
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: ({ row }, args, context) => listPage(args, context, listingsOf(row.id, "live")),
    },
    ListingConnection,
  ),
);

registerNode("Listing", { form: /^0x[0-9a-f]{40}\/[^/]+\//, find: (id, { load }) => load.listing.load(id) });
