import type { MemoryStore } from "tallystick-derive/memoryStore";
import { reputationOf } from "tallystick-derive/reputationOf";
import type { Snapshot } from "tallystick-derive/snapshot";
import { STATE_ID } from "tallystick-derive/stateId";
import type { Row } from "tallystick-derive/tables";

/** The part of a snapshot that is about one agent: its figures, and its cluster with all members. */
export function agentSnapshot(store: MemoryStore, address: string): Snapshot {
  const state = store.rows("state").get(STATE_ID);
  const agents = store.rows("agent");
  const agent = agents.get(address);
  const snapshot: Snapshot = {
    asOf: { block: state?.block ?? 0, time: state?.time ?? 0 },
    agents: {},
    clusters: {},
    digest: state?.digest ?? null,
  };
  if (agent === undefined) return snapshot;
  const cluster = rootsOf(store, agent).find((it) => it !== null) ?? null;
  const prices = [...store.rows("capability").values()].filter((it) => it.agent === address);
  snapshot.agents[address] = reputationOf(agent, cluster, prices);
  if (cluster === null) return snapshot;
  const { id, kind, mergedInto: merged_into, size } = cluster;
  const members = [...agents.values()].filter((it) => rootsOf(store, it).includes(cluster));
  snapshot.clusters[id] = { kind, merged_into, size, members: members.map((it) => it.id).sort() };
  return snapshot;
}

/** The clusters that an agent is in, after all merges: by ownership, and by fingerprint. */
export function rootsOf(
  store: MemoryStore,
  { ownershipCluster, fingerprintCluster }: Row<"agent">,
): (Row<"cluster"> | null)[] {
  const clusters = store.rows("cluster");
  return [ownershipCluster, fingerprintCluster].map((id) => {
    let cluster = id === null ? undefined : clusters.get(id);
    while (cluster !== undefined && cluster.parent !== cluster.id) cluster = clusters.get(cluster.parent);
    return cluster ?? null;
  });
}
