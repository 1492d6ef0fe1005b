import { and, gt, isNull, sql } from "ponder";
import * as schema from "../../../ponder.schema.ts";
import type { Row } from "../../derive/tables.ts";
import { AgentConnection, AgentRef, agentPage, clusterOf } from "./agent.ts";
import { builder } from "./builder.ts";
import { keysetPage } from "./keyset.ts";

export const ClusterRef = builder.objectRef<Row<"cluster">>("Cluster").implement({
  description: "Agents that signals bind together (SHP §4.5). Hires among its members count 1/size each.",
  fields: (t) => ({
    id: t.exposeID("id"),
    kind: t.exposeString("kind", {
      description: "ownership: one wallet's money is behind them; fingerprint: their listings are alike.",
    }),
    size: t.exposeInt("size"),
    formedBlock: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    formedTime: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    members: t.connection(
      {
        type: AgentRef,
        resolve: ({ id }, args, context) => {
          const { agent, cluster } = schema;
          // An agent names the cluster it joined first; merges are followed here, instead of rewriting every member.
          const merged = sql`(WITH RECURSIVE merged AS (
          SELECT ${id}::text AS id
          UNION ALL SELECT c.id FROM ${cluster} c JOIN merged ON c.merged_into = merged.id
        ) SELECT id FROM merged)`;
          return agentPage(
            args,
            context,
            sql`(${agent.ownershipCluster} IN ${merged} OR ${agent.fingerprintCluster} IN ${merged})`,
          );
        },
      },
      AgentConnection,
    ),
  }),
});

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
      description: "All clusters that were not merged into another, in the order in which they formed.",
      type: ClusterRef,
      resolve: (_, args, context) => {
        const { cluster } = schema;
        return keysetPage(args, context, {
          order: [cluster.ordinal],
          direction: "asc",
          select: ({ after, order, limit }) =>
            context.db
              .select()
              .from(cluster)
              .where(and(isNull(cluster.mergedInto), gt(cluster.size, 0), after))
              .orderBy(...order)
              .limit(limit),
          keyOf: ({ ordinal }) => [ordinal],
        });
      },
    },
    ClusterConnection,
  ),
}));
