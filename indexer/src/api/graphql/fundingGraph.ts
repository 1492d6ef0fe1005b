import { inArray } from "ponder";
import * as schema from "../../../ponder.schema.ts";
import type { Row } from "../../derive/tables.ts";
import { builder } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { queryError } from "./errors.ts";

/** A funding transfer, from whom to whom. */
type Edge = Row<"funding"> & { to: string };

type Node = { address: string; agent: Row<"agent"> | null };

/** Legs of a path may be three at the most, so nothing that a signal rests on lies further away. */
const MAX_DEPTH = 3;

/** How many transfers into one wallet are shown; a wallet that has more is no ordinary one. */
const MAX_INBOUND = 100;

const EdgeRef = builder.objectRef<Edge>("FundingEdge").implement({
  description: "A transfer large enough to fund its receiver (SHP §4.5.1).",
  fields: (t) => ({
    id: t.exposeID("id"),
    from: t.field({ type: "Address", resolve: (it) => it.from }),
    to: t.field({ type: "Address", resolve: (it) => it.to }),
    block: t.field({ type: "SafeInt", resolve: (it) => it.block }),
    time: t.field({ type: "SafeInt", resolve: (it) => it.time }),
    log: t.field({ type: "SafeInt", resolve: (it) => it.log }),
  }),
});

const NodeRef = builder.objectRef<Node>("FundingNode").implement({
  fields: (t) => ({
    address: t.field({ type: "Address", resolve: (it) => it.address }),
    isAgent: t.boolean({ resolve: ({ agent }) => agent !== null }),
    clusterId: t.id({
      nullable: true,
      resolve: async ({ agent }, _, { load }) => {
        const first = agent?.ownershipCluster ?? agent?.fingerprintCluster ?? null;
        return first === null ? null : ((await load.cluster.load(first))?.id ?? null);
      },
    }),
  }),
});

const GraphRef = builder.objectRef<{ nodes: Node[]; edges: Edge[] }>("FundingGraph").implement({
  description: "Who funded an agent, and who funded those.",
  fields: (t) => ({
    nodes: t.field({ type: [NodeRef], resolve: (it) => it.nodes }),
    edges: t.field({ type: [EdgeRef], resolve: (it) => it.edges }),
  }),
});

builder.queryField("fundingGraph", (t) =>
  t.field({
    type: GraphRef,
    args: {
      agent: t.arg({ type: "Address", required: true }),
      depth: t.arg.int({ defaultValue: 2, description: `How many transfers back, at most ${MAX_DEPTH}.` }),
    },
    resolve: async (_, { agent, depth }, context) => {
      const levels = depth ?? 2;
      if (levels < 1 || levels > MAX_DEPTH) {
        throw queryError("INVALID_ARGUMENT", `depth must be 1 to ${MAX_DEPTH}.`);
      }
      return fundingGraph(context, agent, levels);
    },
  }),
);

async function fundingGraph(context: QueryContext, agent: string, depth: number) {
  const seen = new Set([agent]);
  const edges: Edge[] = [];
  for (let level = [agent]; level.length > 0 && depth > 0; depth--) {
    const inbound = await inboundOf(context, level);
    edges.push(...inbound);
    level = [...new Set(inbound.map((it) => it.from))].filter((it) => !seen.has(it));
    for (const address of level) seen.add(address);
  }
  const nodes = await Promise.all(
    [...seen].map(async (address) => ({ address, agent: await context.load.agent.load(address) })),
  );
  return { nodes, edges };
}

/** Funding rows are numbered, `<wallet>/<n>`, so those of a wallet are one range of keys. */
async function inboundOf({ db, takeRows }: QueryContext, wallets: string[]): Promise<Edge[]> {
  const { funding, wallet } = schema;
  const counts = await db.select().from(wallet).where(inArray(wallet.id, wallets));
  const ids = counts.flatMap(({ id, fundings }) =>
    Array.from({ length: Math.min(fundings, MAX_INBOUND) }, (_, n) => `${id}/${n}`),
  );
  takeRows(ids.length);
  if (ids.length === 0) return [];
  const rows = await db.select().from(funding).where(inArray(funding.id, ids));
  return rows
    .map((row) => ({ ...row, to: row.id.slice(0, row.id.indexOf("/")) }))
    .sort((a, b) => a.block - b.block || a.log - b.log);
}
