import type { Row } from "tallystick-derive/tables";
import { listingsOf } from "../rows/listings.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";

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
