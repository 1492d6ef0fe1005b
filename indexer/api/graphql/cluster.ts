import type { Row } from "tallystick-derive/tables";
import { clusterList, memberList } from "../rows/clusters.ts";
import { AgentConnection, AgentRef, clusterOf, toAgent } from "./agent.ts";
import { agentColumns } from "./agentColumns.ts";
import { builder, OrderDirection } from "./builder.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";

const ClusterKind = builder.enumType("ClusterKind", {
  values: {
    OWNERSHIP: { value: "ownership", description: "One wallet's money is behind them." },
    FINGERPRINT: { value: "fingerprint", description: "Their listings are alike." },
  } as const,
});

export const ClusterRef = builder.objectRef<Row<"cluster">>("Cluster").implement({
  interfaces: [NodeRef],
  description: "Agents that signals bind together (SHP §4.5). Hires among its members count 1/size each.",
  fields: (t) => ({
    id: t.exposeID("id"),
    kind: t.field({ type: ClusterKind, resolve: ({ kind }) => kind as "ownership" }),
    size: t.exposeInt("size"),
    formedBlock: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    formedTime: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    mergedIds: t.idList({
      description: "Its own id and those of the clusters that were merged into it: each still leads here.",
      resolve: ({ id }, _, { load }) => load.clusterParts.load(id),
    }),
    members: t.connection(
      {
        description:
          "Agents in it, by the cluster they joined first, then in the order in which they registered.",
        type: AgentRef,
        args: { orderDirection: t.arg({ type: OrderDirection }) },
        resolve: async (cluster, args, context, info) => {
          const parts = await context.load.clusterParts.load(cluster.id);
          const list = memberList({ kind: cluster.kind, parts });
          return listPage(args, context, { ...list, columns: agentColumns(info) }, { toNode: toAgent });
        },
      },
      AgentConnection,
    ),
  }),
});

registerNode("Cluster", { form: /^clst_/, find: (id, { load }) => load.cluster.load(id) });

const ClusterConnection = builder.connectionObject(
  { type: ClusterRef, name: "ClusterConnection" },
  { name: "ClusterEdge" },
);

builder.objectField(AgentRef, "cluster", (t) =>
  t.field({
    type: ClusterRef,
    nullable: true,
    resolve: (agent, _, context) => clusterOf(agent, context),
  }),
);

const ClusterFilter = builder.inputType("ClusterFilter", {
  fields: (t) => ({ kind: t.field({ type: ClusterKind }), minSize: t.int() }),
});

const ClusterOrder = builder.enumType("ClusterOrder", {
  values: {
    FORMED: { value: "formed", description: "In the order in which they formed." },
    SIZE: { value: "size", description: "The largest first." },
  } as const,
});

builder.queryFields((t) => ({
  cluster: t.field({
    description: "The cluster of that id, or the older one it was merged into.",
    type: ClusterRef,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, { load }) => load.cluster.load(id),
  }),
  clusters: t.connection(
    {
      description:
        "Clusters that were not merged into another, in the order in which they formed unless orderBy says otherwise.",
      type: ClusterRef,
      args: {
        orderDirection: t.arg({ type: OrderDirection }),
        where: t.arg({ type: ClusterFilter }),
        orderBy: t.arg({ type: ClusterOrder }),
      },
      resolve: (_, { where, orderBy, ...args }, context) =>
        listPage(args, context, clusterList(where ?? {}, orderBy ?? undefined)),
    },
    ClusterConnection,
  ),
}));
