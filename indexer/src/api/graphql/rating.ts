import { and, eq } from "ponder";
import * as schema from "../../../ponder.schema.ts";
import type { Row } from "../../derive/tables.ts";
import { AgentRef } from "./agent.ts";
import { builder } from "./builder.ts";
import { keysetPage } from "./keyset.ts";

const RatingRef = builder.objectRef<Row<"rating">>("Rating").implement({
  description: "Stars that one side of a hire gave the other (SHP §9.1).",
  fields: (t) => ({
    id: t.exposeID("id"),
    rater: t.field({ type: "Address", resolve: (it) => it.rater }),
    side: t.exposeString("side", { description: "buyer or seller: the side that rates." }),
    stars: t.exposeInt("stars"),
    status: t.exposeString("status", { description: "pending until its hire is counted, then counted." }),
    weight: t.float({ resolve: ({ clusterSize }) => Math.round(1e9 / clusterSize) / 1e9 }),
    time: t.field({ type: "SafeInt", resolve: (it) => it.time }),
  }),
});

const RatingConnection = builder.connectionObject(
  { type: RatingRef, name: "RatingConnection" },
  { name: "RatingEdge" },
);

builder.objectField(AgentRef, "ratings", (t) =>
  t.connection(
    {
      description: "Ratings it received, latest first.",
      type: RatingRef,
      resolve: ({ row }, args, context) => {
        const { rating } = schema;
        return keysetPage(args, context, {
          order: [rating.time, rating.id],
          direction: "desc",
          select: ({ after, order, limit }) =>
            context.db
              .select()
              .from(rating)
              .where(and(eq(rating.ratee, row.id), after))
              .orderBy(...order)
              .limit(limit),
          keyOf: (it) => [it.time, it.id],
        });
      },
    },
    RatingConnection,
  ),
);
