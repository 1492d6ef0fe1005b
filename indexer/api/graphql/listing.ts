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
  description: "What a seller offers, as it last published it.",
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
      description: "Whose audits it agreed to last (SHP §8.3).",
      resolve: (it) => it.auditOperator,
    }),
    auditFrom: t.field({
      type: "SafeInt",
      nullable: true,
      description: "From when on what it says of audits holds.",
      resolve: (it) => it.auditFrom,
    }),
    live: t.exposeBoolean("live", { description: "False once the seller retired it." }),
    issuedAt: t.field({ type: "SafeInt", resolve: (it) => it.issuedAt }),
    payee: t.field({ type: "Address", nullable: true, resolve: (it) => it.payee }),
    recordHash: t.exposeString("hash", { description: "Hash of the ledger entry that says so." }),
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
      description: "As search ranks them: the seller's tier, success rate and count, then the price.",
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
      description: "Exactly this one, or `platform_escrow:*` for any platform escrow.",
    }),
    maxPriceUsdc: t.field({ type: "Usdc" }),
    maxLatencyMs: t.field({ type: "SafeInt" }),
    minTrustTier: t.int({ description: "Of the seller." }),
    minIndependentBuyers: t.int({ description: "Of the seller: families of wallets that bought." }),
    minKeptUsdc: t.field({ type: "Usdc", description: "What they paid the seller and did not get back." }),
    minReceiptCoverage: t.float({ description: "Of the seller: share of direct payments with a receipt." }),
    minStewardScore: t.float({ description: "Of the seller's trust score; without one it passes none." }),
    stewardTier: t.field({ type: StewardTierRef, description: "This one or a higher one." }),
    includeSuspended: t.boolean({
      description: "Sellers too that take no new hires now, for a breach of their SLA.",
    }),
    firstCallFree: t.boolean(),
    clarificationSupported: t.boolean(),
  }),
});

builder.queryField("listings", (t) =>
  t.connection(
    {
      description:
        "Live listings, as search ranks them unless orderBy says otherwise. A page narrowed by filters may be short (see agents).",
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
