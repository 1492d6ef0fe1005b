import { formatUsdc } from "tallystick-protocol/amount";
import {
  type ClusterGraph,
  clusterGraph,
  GRAPH_LIMITS,
  type GraphEdge,
  type GraphNode,
  type GraphSignal,
} from "../rows/clusterGraph.ts";
import { AgentRef, toAgent } from "./agent.ts";
import { builder } from "./builder.ts";
import { ClusterRef } from "./cluster.ts";
import type { QueryContext } from "./context.ts";
import { queryError } from "./errors.ts";

/**
 * This many rows of a graph count as one row of a request's limit, because a few statements read all of them.
 */
const ROWS_AS_ONE = 20;

/** For each request, the reading of its last graph. */
const reading = new WeakMap<QueryContext, Promise<unknown>>();

/**
 * Reads the graphs of one request one after the other, and stops after a refusal. The cost of a graph is
 * known only after reading, and a request may ask for thirty graphs by aliases.
 */
function oneByOne<Answer>(context: QueryContext, read: () => Promise<Answer>): Promise<Answer> {
  const answer = (reading.get(context) ?? Promise.resolve()).then(read);
  reading.set(context, answer);
  return answer;
}

const ClusterNodeRef = builder.objectRef<GraphNode>("ClusterGraphNode").implement({
  description: "A member of a cluster, or a wallet whose money reached a member.",
  fields: (t) => ({
    address: t.field({ type: "Address", resolve: ({ address }) => address }),
    isMember: t.boolean({ resolve: ({ depth }) => depth === 0 }),
    depth: t.exposeInt("depth", {
      description: "The number of transfers from it to a member; 0 for members.",
    }),
    kind: t.exposeString("kind", {
      nullable: true,
      description: "hub or escrow, if it is one. Neither funds anybody, so the graph ends there.",
    }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      resolve: ({ agent }) => (agent === null ? null : toAgent(agent)),
    }),
  }),
});

const ClusterEdgeReason = builder.enumType("ClusterGraphTransfer", {
  values: {
    FUNDING: {
      description: "A funding transfer, or a transfer that counts as one until a receipt shows otherwise.",
    },
    PAID_FOR_HIRE: { description: "A receipt shows that it paid for a hire, so it funds nobody." },
  },
});

const ClusterEdgeRef = builder.objectRef<GraphEdge>("ClusterGraphEdge").implement({
  description: "A transfer that is large enough to fund its receiver (SHP §4.5.1).",
  fields: (t) => ({
    from: t.field({ type: "Address", resolve: (it) => it.from }),
    to: t.field({ type: "Address", resolve: (it) => it.to }),
    amountUsdc: t.field({
      type: "Usdc",
      nullable: true,
      resolve: ({ value }) => (value === null ? null : formatUsdc(value)),
    }),
    block: t.field({ type: "SafeInt", resolve: (it) => it.block }),
    time: t.field({ type: "SafeInt", resolve: (it) => it.time }),
    log: t.field({ type: "SafeInt", resolve: (it) => it.log }),
    reason: t.field({
      type: ClusterEdgeReason,
      resolve: ({ kind }) => (kind === "paid" ? "PAID_FOR_HIRE" : "FUNDING"),
    }),
  }),
});

const ClusterSignalRef = builder.objectRef<GraphSignal>("ClusterSignal").implement({
  description: "A signal that put agents into the cluster: one funder's money (SHP §4.5.1).",
  fields: (t) => ({
    id: t.exposeID("id"),
    signal: t.exposeString("signal", {
      description: "funding_origin: funded within a day; deploy_batch: registered within 256 blocks.",
    }),
    funder: t.field({ type: "Address", resolve: ({ funder }) => funder }),
    members: t.field({
      type: ["Address"],
      description: `The first ${GRAPH_LIMITS.named} agents that it put together.`,
      resolve: ({ members }) => members,
    }),
    memberCount: t.exposeInt("memberCount"),
    dropped: t.exposeBoolean("dropped", {
      description: "Whether it was dropped, because its funder was published as a hub later.",
    }),
  }),
});

const ClusterGraphRef = builder.objectRef<ClusterGraph>("ClusterGraph").implement({
  description:
    "A cluster with the evidence for its signals: members, wallets whose money reached them in at most three transfers, and these transfers. A cluster of similar listings has only members.",
  fields: (t) => ({
    nodes: t.field({ type: [ClusterNodeRef], resolve: ({ nodes }) => nodes }),
    edges: t.field({ type: [ClusterEdgeRef], resolve: ({ edges }) => edges }),
    signals: t.field({ type: [ClusterSignalRef], resolve: ({ signals }) => signals }),
    isWhole: t.exposeBoolean("isWhole", {
      description:
        "False when something was left out: members beyond those asked for, " +
        `more than ${GRAPH_LIMITS.wallets} other wallets, ${GRAPH_LIMITS.edges} transfers, ${GRAPH_LIMITS.inbound} of them into one wallet, or ${GRAPH_LIMITS.signals} signals.`,
    }),
  }),
});

builder.objectField(ClusterRef, "graph", (t) =>
  t.field({
    type: ClusterGraphRef,
    description: "The whole graph of the cluster.",
    args: {
      members: t.arg.int({
        defaultValue: GRAPH_LIMITS.members,
        description: `The highest number of members, up to ${GRAPH_LIMITS.members}.`,
      }),
    },
    resolve: ({ id, kind }, { members }, context) => {
      const most = members ?? GRAPH_LIMITS.members;
      if (most < 1 || most > GRAPH_LIMITS.members)
        throw queryError("INVALID_ARGUMENT", `members must be 1 to ${GRAPH_LIMITS.members}.`);
      return oneByOne(context, async () => {
        const { db, load, takeRows } = context;
        takeRows(Math.ceil(most / ROWS_AS_ONE));
        const parts = await load.clusterParts.load(id);
        const graph = await clusterGraph(db, { kind, parts }, most);
        takeRows(Math.ceil((graph.nodes.length + graph.edges.length + graph.signals.length) / ROWS_AS_ONE));
        return graph;
      });
    },
  }),
);
