import type { Row } from "tallystick-derive/tables";
import { tierChangeList } from "../rows/tierChanges.ts";
import { AgentRef, agentAt } from "./agent.ts";
import { builder, OrderDirection } from "./builder.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";

export const TierChangeRef = builder.objectRef<Row<"tierChange">>("TierChange").implement({
  interfaces: [NodeRef],
  description: "A change of an agent's trust tier, and its reason (SHP §4.3).",
  fields: (t) => ({
    id: t.exposeID("id"),
    agentAddress: t.field({ type: "Address", resolve: (it) => it.agent }),
    agent: t.field(agentAt(({ agent }) => agent)),
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

registerNode("TierChange", {
  form: /^0x[0-9a-f]{40}\/[0-9]+$/,
  find: (id, { load }) => load.tierChange.load(id),
});

builder.objectField(AgentRef, "tierChanges", (t) =>
  t.connection(
    {
      type: TierChangeRef,
      args: { orderDirection: t.arg({ type: OrderDirection }) },
      resolve: ({ row }, args, context) => listPage(args, context, tierChangeList(row.id)),
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
      resolve: (_, { agent, ...args }, context) => listPage(args, context, tierChangeList(agent)),
    },
    TierChangeConnection,
  ),
);
