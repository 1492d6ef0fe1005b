import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import { AgentRef, findAgent } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";
import type { PageArgs } from "./pageArgs.ts";

export const TierChangeRef = builder.objectRef<Row<"tierChange">>("TierChange").implement({
  interfaces: [NodeRef],
  description: "A step up or down between trust tiers, and why (SHP §4.3).",
  fields: (t) => ({
    id: t.exposeID("id"),
    agentAddress: t.field({ type: "Address", resolve: (it) => it.agent }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      resolve: (it, _, context) => findAgent(it.agent, context),
    }),
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

function tierChangePage(args: PageArgs, context: QueryContext, of?: string) {
  const { tierChange } = schema;
  return listPage(args, context, {
    table: tierChange,
    ...(of !== undefined && { of: { name: "Agent.tierChanges", column: tierChange.agent, id: of } }),
    order: [tierChange.block, tierChange.id],
    direction: "desc",
    toNode: (it) => it,
  });
}

registerNode("TierChange", {
  form: /^0x[0-9a-f]{40}\/[0-9]+$/,
  find: (id, { load }) => load.tierChange.load(id),
});

builder.objectField(AgentRef, "tierChanges", (t) =>
  t.connection(
    {
      type: TierChangeRef,
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: ({ row }, args, context) => tierChangePage(args, context, row.id),
    },
    TierChangeConnection,
  ),
);

builder.queryField("tierChanges", (t) =>
  t.connection(
    {
      description: "Tier changes of one agent, or of all, the latest first.",
      type: TierChangeRef,
      args: { orderDirection: t.arg({ type: OrderDirection }), agent: t.arg({ type: "Address" }) },
      resolve: (_, { agent, ...args }, context) => tierChangePage(args, context, agent ?? undefined),
    },
    TierChangeConnection,
  ),
);
