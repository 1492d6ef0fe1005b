import type { Row } from "tallystick-derive/tables";
import { clusterList, memberList } from "../rows/clusters.ts";
import { AgentConnection, AgentRef, clusterOf, toAgent } from "./agent.ts";
import { agentColumns } from "./agentColumns.ts";
import { builder, OrderDirection } from "./builder.ts";
import { listPage } from "./list.ts";
import { NodeRef, registerNode } from "./node.ts";

const ClusterKind = builder.enumType("ClusterKind", {
  values: {
    OWNERSHIP: { value: "ownership", description: "Agents that one wallet funded." },
    FINGERPRINT: { value: "fingerprint", description: "Agents with similar listings." },
  } as const,
});

export const ClusterRef = builder.objectRef<Row<"cluster">>("Cluster").implement({
  interfaces: [NodeRef],
  description: "Agents that share signals of one owner (SHP §4.5). A hire between two members counts 1/size.",
  fields: (t) => ({
    id: t.exposeID("id"),
    kind: t.field({ type: ClusterKind, resolve: ({ kind }) => kind as "ownership" }),
    size: t.exposeInt("size"),
    formedBlock: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    formedTime: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    mergedIds: t.idList({
      description:
        "Its own id and the ids of the clusters that were merged into it. Each of them still finds this cluster.",
      resolve: ({ id }, _, { load }) => load.clusterParts.load(id),
    }),
    members: t.connection(
      {
        description: "Its members, by the cluster that they joined first, then by their registration.",
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
    description: "The cluster with this id, or the older cluster that it was merged into.",
    type: ClusterRef,
    nullable: true,
    args: { id: t.arg.id({ required: true }) },
    resolve: (_, { id }, { load }) => load.cluster.load(id),
  }),
  clusters: t.connection(
    {
      description: "Clusters that were not merged into another cluster. Default order: by their formation.",
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
