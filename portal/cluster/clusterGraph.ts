import { type Link, layoutGraph } from "./layoutGraph.ts";

/** A wallet in the drawing of a cluster's funding graph, with its position. */
export type PlacedWallet = {
  address: string;
  kind: "member" | "wallet" | "hub" | "escrow";
  x: number;
  y: number;
};

export type PlacedGraph = { wallets: PlacedWallet[]; links: { from: string; to: string; count: number }[] };

type ClusterAnswer = {
  nodes: readonly { address: string; isMember: boolean; kind: string | null }[];
  edges: readonly { from: string; to: string }[];
};

/**
 * Gives each wallet of a graph its position. The same graph has the same positions for every reader. The order in the
 * node's answer does not matter.
 */
export function placeGraph({ nodes, edges }: ClusterAnswer): PlacedGraph {
  const byAddress = new Map(nodes.map((it) => [it.address, it]));
  for (const { from, to } of edges)
    for (const address of [from, to])
      if (!byAddress.has(address)) byAddress.set(address, { address, isMember: false, kind: null });
  const sorted = [...byAddress.values()].sort((a, b) => (a.address < b.address ? -1 : 1));
  const numbers = new Map(sorted.map(({ address }, n) => [address, n]));
  const counts = new Map<string, { from: string; to: string; count: number }>();
  for (const { from, to } of edges) {
    if (from === to) continue;
    const known = counts.get(`${from} ${to}`);
    if (known === undefined) counts.set(`${from} ${to}`, { from, to, count: 1 });
    else known.count++;
  }
  const links = [...counts.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, it]) => it);
  const pairs = links.map((it): Link => [numbers.get(it.from) ?? 0, numbers.get(it.to) ?? 0]);
  const places = layoutGraph(sorted.length, pairs);
  return {
    wallets: sorted.map(({ address, isMember, kind }, n) => ({
      address,
      kind: isMember ? "member" : kind === "hub" || kind === "escrow" ? kind : "wallet",
      x: places[2 * n] as number,
      y: places[2 * n + 1] as number,
    })),
    links,
  };
}
