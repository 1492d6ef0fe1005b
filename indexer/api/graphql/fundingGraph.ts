import { parseFundings } from "tallystick-derive/funding/legs";
import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { batched } from "../rows/batched.ts";
import { clusterOf } from "../rows/clusters.ts";
import { latestTrips } from "../rows/trips.ts";
import { AgentRef, toAgent } from "./agent.ts";
import { builder } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { queryError } from "./errors.ts";

/** A funding transfer, from whom to whom. */
type Edge = ReturnType<typeof parseFundings>[number] & { id: string; to: string; agent: string };

type Node = { address: string; agent: Row<"agent"> | null };

/** A path has at most three transfers, so a signal never depends on wallets that are farther away. */
const MAX_DEPTH = 3;

/** The most transfers that are shown for one receiver. An ordinary wallet has fewer. */
const MAX_INBOUND = 100;

/** The most recent signals of a funder that are read. */
const MAX_TRIPS = 50;

const EdgeReason = builder.enumType("FundingReason", {
  values: {
    FUNDING: {
      description:
        "It is at least the minimum funding, and at least the given share of all that its receiver had received.",
    },
    PAID_FOR_HIRE: { description: "A receipt shows that it paid for a hire, so it funds nobody." },
    FROM_HUB: {
      description: "Its sender is published as a hub, so the transfer puts nobody into a cluster.",
    },
  },
});

const SignalRef = builder.objectRef<Row<"trip">>("FundingSignal").implement({
  description: "Agents that one funder's money put into a cluster together (SHP §4.5.1).",
  fields: (t) => ({
    signal: t.exposeString("signal", {
      description: "funding_origin: funded within a day; deploy_batch: registered within 256 blocks.",
    }),
    funder: t.field({ type: "Address", resolve: ({ funder }) => funder }),
    members: t.field({ type: ["Address"], resolve: ({ members }) => members.split(",") }),
    dropped: t.exposeBoolean("dropped", {
      description: "Whether it was dropped, because its funder was published as a hub later.",
    }),
    clusterId: t.id({
      nullable: true,
      description: "The cluster that this signal puts them into now.",
      // The signal may have joined an existing cluster instead of starting its own, so the members name the
      // cluster.
      resolve: async ({ members, dropped }, _, { load }) => {
        const first = dropped ? null : await load.agent.load(members.split(",")[0] ?? "");
        const cluster = first?.ownershipCluster ?? null;
        return cluster === null ? null : ((await load.cluster.load(cluster))?.id ?? null);
      },
    }),
  }),
});

const EdgeRef = builder.objectRef<Edge>("FundingEdge").implement({
  description: "A transfer large enough to fund its receiver (SHP §4.5.1), and its effect.",
  fields: (t) => ({
    id: t.exposeID("id"),
    from: t.field({ type: "Address", resolve: (it) => it.from }),
    to: t.field({ type: "Address", resolve: (it) => it.to }),
    block: t.field({ type: "SafeInt", resolve: (it) => it.block }),
    time: t.field({ type: "SafeInt", resolve: (it) => it.time }),
    log: t.field({ type: "SafeInt", resolve: (it) => it.log }),
    amountUsdc: t.field({
      type: "Usdc",
      nullable: true,
      resolve: async ({ block, log }, _, { load }) => {
        const value = await load.transferValue.load({ block, log });
        return value === null ? null : formatUsdc(value);
      },
    }),
    reason: t.field({ type: EdgeReason, resolve: (it, _, context) => reasonOf(it, context) }),
    signals: t.field({
      type: [SignalRef],
      description:
        "The signals that its sender's fundings tripped for this receiver or the requested agent, among the sender's latest 50.",
      resolve: async ({ from, to, agent }, _, context) =>
        (await tripsOf(from, context)).filter(({ members }) => {
          const together = members.split(",");
          return together.includes(to) || together.includes(agent);
        }),
    }),
  }),
});

async function reasonOf({ from, kind }: Edge, { load }: QueryContext) {
  if (kind === "paid") return "PAID_FOR_HIRE";
  return (await load.wallet.load(from))?.kind ? "FROM_HUB" : "FUNDING";
}

/** The latest signals of a funder. All funders of a request are read together. */
function tripsOf(funder: string, { batches, db, takeRows }: QueryContext): Promise<Row<"trip">[]> {
  return batched(batches, "FundingEdge.signals", funder, (funders) =>
    latestTrips(db, funders, { most: MAX_TRIPS, takeRows }),
  );
}

const WalletRef = builder.objectRef<Node>("FundingNode").implement({
  fields: (t) => ({
    address: t.field({ type: "Address", resolve: (it) => it.address }),
    agent: t.field({
      type: AgentRef,
      nullable: true,
      resolve: ({ agent }) => (agent === null ? null : toAgent(agent)),
    }),
    kind: t.string({
      nullable: true,
      description: "hub or escrow, if it is one. Neither funds anybody.",
      resolve: async ({ address }, _, { load }) => (await load.wallet.load(address))?.kind ?? null,
    }),
    isAgent: t.boolean({ resolve: ({ agent }) => agent !== null }),
    clusterId: t.id({
      nullable: true,
      resolve: async ({ agent }, _, { load }) =>
        agent === null ? null : ((await clusterOf(agent, load.cluster))?.id ?? null),
    }),
  }),
});

const GraphRef = builder.objectRef<{ nodes: Node[]; edges: Edge[] }>("FundingGraph").implement({
  description: "The wallets that funded an agent, and the wallets that funded these.",
  fields: (t) => ({
    nodes: t.field({ type: [WalletRef], resolve: (it) => it.nodes }),
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
    const inbound = await inboundOf(context, level, agent);
    edges.push(...inbound);
    level = [...new Set(inbound.map((it) => it.from))].filter((it) => !seen.has(it));
    for (const address of level) seen.add(address);
  }
  const nodes = await Promise.all(
    [...seen].map(async (address) => ({ address, agent: await context.load.agent.load(address) })),
  );
  return { nodes, edges };
}

/** The funding transfers into some wallets, in the order of the chain. At most {@link MAX_INBOUND} for each wallet. */
async function inboundOf(
  { load, takeRows }: QueryContext,
  wallets: string[],
  agent: string,
): Promise<Edge[]> {
  takeRows(wallets.length);
  const rows = await Promise.all(
    wallets.map(async (address) => {
      // First the inflows from before the wallet was watched (only in relevant logs), then the later ones.
      const [told, live] = await Promise.all([load.inflow.load(address), load.wallet.load(address)]);
      return { address, legs: [...legsOf(told), ...legsOf(live)].slice(0, MAX_INBOUND) };
    }),
  );
  const edges = rows.flatMap(({ address, legs }) =>
    legs.map((leg, n) => ({ ...leg, id: `${address}/${n}`, to: address, agent })),
  );
  takeRows(edges.length);
  return edges.sort((a, b) => a.block - b.block || a.log - b.log);
}

function legsOf(row: { fundings: string } | null) {
  return parseFundings(row?.fundings ?? "").filter(({ kind }) => kind !== "presumed");
}
