import type { MemoryStore } from "tallystick-derive/memoryStore";
import type { Snapshot } from "tallystick-derive/snapshot";
import type { ExpectedState } from "./oracle.ts";

/** What was derived, as the oracle tells it. */
export function derivedState({ agents, clusters }: Snapshot, store: MemoryStore): ExpectedState {
  const rows = store.rows("agent");
  return {
    agents: Object.fromEntries(
      Object.entries(agents).map(([address, fields]) => {
        const { cluster_id: id } = fields;
        const cluster = id === null ? null : [...(clusters[id]?.members ?? [])].sort();
        const { ownershipCluster = null, fingerprintCluster = null } = rows.get(address) ?? {};
        return [address, { ...fields, cluster, first_clusters: [ownershipCluster, fingerprintCluster] }];
      }),
    ),
    clusters,
  };
}
