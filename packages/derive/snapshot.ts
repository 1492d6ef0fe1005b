import type { MemoryStore } from "./memoryStore.ts";
import type { Reputation } from "./reputation.ts";
import { reputationOf } from "./reputationOf.ts";
import { STATE_ID } from "./stateId.ts";
import type { Row } from "./tables.ts";

export type Snapshot = {
  asOf: { block: number; time: number };
  agents: { [address: string]: Reputation };
  clusters: { [id: string]: { kind: string; merged_into: string | null; size: number; members: string[] } };
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
    snapshot.clusters[cluster.id] = {
      kind: cluster.kind,
      merged_into: cluster.mergedInto,
      size: cluster.size,
      members: [],
    };
  }
  const prices = Map.groupBy(store.rows("capability").values(), (it) => it.agent);
  for (const agent of sorted(store.rows("agent"))) {
    const clusters = [rootOf(agent.ownershipCluster), rootOf(agent.fingerprintCluster)];
    snapshot.agents[agent.id] = reputationOf(
      agent,
      clusters[0] ?? clusters[1] ?? null,
      prices.get(agent.id) ?? [],
    );
    for (const cluster of clusters) {
      if (cluster !== null) snapshot.clusters[cluster.id]?.members.push(agent.id);
    }
  }
  return snapshot;
}

function sorted<T extends { id: string }>(rows: Map<string, T>): T[] {
  return [...rows.values()].sort((a, b) => (a.id < b.id ? -1 : 1));
}
