import type { Row } from "tallystick-derive/tables";
import { ratingsOf } from "../rows/ratings.ts";
import { weightOf } from "../weightOf.ts";
import { AgentRef } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import { HireRef } from "./hire.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";

export const RatingRef = builder.objectRef<Row<"rating">>("Rating").implement({
  interfaces: [NodeRef],
  description: "Stars that one side of a hire gave the other (SHP §9.1).",
  fields: (t) => ({
    id: t.exposeID("id"),
    rater: t.field({ type: "Address", resolve: (it) => it.rater }),
    ratee: t.field({ type: "Address", resolve: (it) => it.ratee }),
    side: t.exposeString("side", { description: "buyer or seller: the side that rates." }),
    stars: t.exposeInt("stars"),
    status: t.exposeString("status", {
      description: "counted if it counts. pending until its hire is counted, and while the hire is neutral.",
    }),
    clusterSize: t.exposeInt("clusterSize", {
      description: "Size of the cluster that both sides shared when it was counted, else 1.",
    }),
    receiptHash: t.exposeString("receipt"),
    hire: t.field({
      type: HireRef,
      nullable: true,
      resolve: ({ hire }, _, { load }) => (hire === null ? null : load.hire.load(hire)),
    }),
    weight: t.float({ resolve: weightOf }),
    time: t.field({ type: "SafeInt", resolve: (it) => it.time }),
  }),
});

export const RatingConnection = builder.connectionObject(
  { type: RatingRef, name: "RatingConnection" },
  { name: "RatingEdge" },
);

builder.objectField(AgentRef, "ratings", (t) =>
  t.connection(
    {
      description: "The ratings that it received, the latest first.",
      type: RatingRef,
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: ({ row }, args, context) =>
        listPage(args, context, ratingsOf(row.id), { coarseCount: row.privateListings > 0 }),
    },
    RatingConnection,
  ),
);

builder.objectField(HireRef, "ratings", (t) =>
  t.field({
    type: [RatingRef],
    description: "The ratings of both sides: at most two.",
    resolve: async ({ receipt }, _, { load }) => {
      if (receipt === null) return [];
      const both = await Promise.all(
        ["buyer", "seller"].map((side) => load.rating.load(`${receipt}/${side}`)),
      );
      return both.filter((it) => it !== null);
    },
  }),
);

registerNode("Rating", {
  form: /^[0-9a-f]{64}\/(buyer|seller)$/,
  find: (id, { load }) => load.rating.load(id),
});
