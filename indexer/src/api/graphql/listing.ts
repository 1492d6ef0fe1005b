import { and, eq } from "ponder";
import * as schema from "../../../ponder.schema.ts";
import type { Row } from "../../derive/tables.ts";
import { AgentRef } from "./agent.ts";
import { builder } from "./builder.ts";
import { keysetPage } from "./keyset.ts";

const ListingRef = builder.objectRef<Row<"listing">>("Listing").implement({
  description: "What a seller offers, as it last published it.",
  fields: (t) => ({
    id: t.exposeID("id"),
    capability: t.exposeString("capability"),
    paymentMode: t.exposeString("paymentMode"),
    priceUsdc: t.field({ type: "Usdc", resolve: (it) => it.priceUsdc }),
    maxLatencyMs: t.field({ type: "SafeInt", resolve: (it) => it.maxLatencyMs }),
    endpoint: t.exposeString("endpoint"),
    firstCallFree: t.exposeBoolean("firstCallFree"),
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
      resolve: ({ row }, args, context) => {
        const { listing } = schema;
        return keysetPage(args, context, {
          order: [listing.id],
          direction: "asc",
          select: ({ after, order, limit }) =>
            context.db
              .select()
              .from(listing)
              .where(and(eq(listing.agent, row.id), eq(listing.live, true), after))
              .orderBy(...order)
              .limit(limit),
          keyOf: (it) => [it.id],
        });
      },
    },
    ListingConnection,
  ),
);
