import type { Row } from "../../derive/tables.ts";

/** Finds the cluster that an id stands for now, many at once. */
export type ClusterLoader = { load: (id: string) => Promise<Row<"cluster"> | null> };

/** The cluster an agent goes by: of shared ownership, else of listings alike. */
export async function clusterOf(
  { ownershipCluster, fingerprintCluster }: Row<"agent">,
  clusters: ClusterLoader,
): Promise<Row<"cluster"> | null> {
  const first = ownershipCluster ?? fingerprintCluster;
  return first === null ? null : clusters.load(first);
}
