import type { MemoryStore } from "./memoryStore.ts";
import { type Reputation, reputationOf } from "./reputation.ts";
import { STATE_ID } from "./step.ts";
import type { Row } from "./tables.ts";

export type Snapshot = {
  asOf: { block: number; time: number };
  agents: { [address: string]: Reputation };
  clusters: { [id: string]: { merged_into: string | null; size: number; members: string[] } };
  digest: string | null;
};

/** The derived state as `tallystick derive` prints it: agents and clusters by id in ascending order. */
export function snapshotOf(store: MemoryStore): Snapshot {
  const state = store.rows("state").get(STATE_ID);
  const clusters = store.rows("cluster");
  const rootOf = (id: string | null): Row<"cluster"> | null => {
    let cluster = id === null ? undefined : clusters.get(id);
    while (cluster !== undefined && cluster.parent !== cluster.id) cluster = clusters.get(cluster.parent);
    return cluster ?? null;
  };

  const snapshot: Snapshot = {
    asOf: { block: state?.block ?? 0, time: state?.time ?? 0 },
    agents: {},
    clusters: {},
    digest: state?.digest ?? null,
  };
  for (const cluster of sorted(clusters)) {
    snapshot.clusters[cluster.id] = { merged_into: cluster.mergedInto, size: cluster.size, members: [] };
  }
  for (const agent of sorted(store.rows("agent"))) {
    const cluster = rootOf(agent.cluster);
    snapshot.agents[agent.id] = reputationOf(agent, cluster);
    if (cluster !== null) snapshot.clusters[cluster.id]?.members.push(agent.id);
  }
  return snapshot;
}

function sorted<T extends { id: string }>(rows: Map<string, T>): T[] {
  return [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
