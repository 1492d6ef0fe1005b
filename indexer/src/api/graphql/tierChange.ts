import { and, eq } from "ponder";
import * as schema from "../../../ponder.schema.ts";
import type { Row } from "../../derive/tables.ts";
import { AgentRef } from "./agent.ts";
import { builder } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { keysetPage, type PageArgs } from "./keyset.ts";

const TierChangeRef = builder.objectRef<Row<"tierChange">>("TierChange").implement({
  description: "A step up or down between trust tiers, and why (SHP §4.3).",
  fields: (t) => ({
    id: t.exposeID("id"),
    from: t.exposeInt("from"),
    to: t.exposeInt("to"),
    reason: t.exposeString("reason"),
    block: t.field({ type: "SafeInt", resolve: (it) => it.block }),
    time: t.field({ type: "SafeInt", resolve: (it) => it.time }),
    log: t.field({ type: "SafeInt", nullable: true, resolve: (it) => it.log }),
    seq: t.field({ type: "SafeInt", nullable: true, resolve: (it) => it.seq }),
  }),
});

const TierChangeConnection = builder.connectionObject(
  { type: TierChangeRef, name: "TierChangeConnection" },
  { name: "TierChangeEdge" },
);

function tierChangePage(agent: string, args: PageArgs, context: QueryContext) {
  const { tierChange } = schema;
  return keysetPage(args, context, {
    order: [tierChange.block, tierChange.id],
    direction: "desc",
    select: ({ after, order, limit }) =>
      context.db
        .select()
        .from(tierChange)
        .where(and(eq(tierChange.agent, agent), after))
        .orderBy(...order)
        .limit(limit),
    keyOf: (it) => [it.block, it.id],
  });
}

builder.objectField(AgentRef, "tierChanges", (t) =>
  t.connection(
    { type: TierChangeRef, resolve: ({ row }, args, context) => tierChangePage(row.id, args, context) },
    TierChangeConnection,
  ),
);

builder.queryField("tierChanges", (t) =>
  t.connection(
    {
      description: "An agent's tier changes, latest first.",
      type: TierChangeRef,
      args: { agent: t.arg({ type: "Address", required: true }) },
      resolve: (_, { agent, ...args }, context) => tierChangePage(agent, args, context),
    },
    TierChangeConnection,
  ),
);
