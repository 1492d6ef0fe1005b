import DataLoader from "dataloader";
import { sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { isPossible } from "./byKey.ts";
import { rowsById } from "./rowsById.ts";

/** Finds the cluster that an id stands for now, many at once. */
export type ClusterLoader = DataLoader<string, Row<"cluster"> | null>;

/** A loader for the answers of one request. */
export function clusterLoader(db: Database): ClusterLoader {
  return new DataLoader((ids: readonly string[]) => clusterRoots(db, ids));
}

/** Joins agents with the cluster they go by: that is all, unless it was merged into another since. */
export const clusterIsNamed = sql`${schema.cluster.id} = coalesce(${schema.agent.ownershipCluster}, ${schema.agent.fingerprintCluster})`;

/** Spares the loader a cluster that came with its agent. */
export function keepCluster(clusters: ClusterLoader, found: Row<"cluster"> | null): void {
  if (found !== null && found.parent === found.id) clusters.prime(found.id, found);
}

/** The cluster an agent goes by: of shared ownership, else of listings alike. */
export async function clusterOf(
  { ownershipCluster, fingerprintCluster }: Pick<Row<"agent">, "ownershipCluster" | "fingerprintCluster">,
  clusters: ClusterLoader,
): Promise<Row<"cluster"> | null> {
  const first = ownershipCluster ?? fingerprintCluster;
  return first === null ? null : clusters.load(first);
}

/** Follows `parent` for all ids together: as many queries as the longest way, which the derivation keeps short. */
async function clusterRoots(db: Database, ids: readonly string[]): Promise<(Row<"cluster"> | null)[]> {
  const known = new Map<string, Row<"cluster">>();
  for (let wanted = [...new Set(ids)].filter(isPossible); wanted.length > 0; ) {
    const rows = await rowsById(db, "cluster", wanted);
    for (const row of rows) known.set(row.id, row);
    wanted = [...new Set(rows.map((row) => row.parent))].filter((id) => !known.has(id));
  }
  const rootOf = (id: string): Row<"cluster"> | null => {
    const row = known.get(id);
    return row === undefined || row.parent === row.id ? (row ?? null) : rootOf(row.parent);
  };
  return ids.map(rootOf);
}

/** An agent names the cluster it joined first; merges are followed here, instead of rewriting every member. */
export async function clusterParts(db: Database, ids: readonly string[]): Promise<string[][]> {
  const { cluster } = schema;
  const { rows } = await db.execute<{ root: string; ids: string[] }>(sql`
    WITH RECURSIVE merged AS (
      SELECT id AS root, id FROM unnest(${sql.param([...ids])}::text[]) AS asked (id)
      UNION ALL
      SELECT merged.root, part.id FROM merged
        CROSS JOIN LATERAL (SELECT ${cluster.id} FROM ${cluster} WHERE ${cluster.mergedInto} = merged.id OFFSET 0) AS part
    ) SELECT root, array_agg(id ORDER BY id) AS ids FROM merged GROUP BY root`);
  const parts = new Map(rows.map((row) => [row.root, row.ids]));
  return ids.map((id) => parts.get(id) ?? [id]);
}

/** The column that names the cluster an agent joined first. */
export function memberColumn({ kind }: Pick<Row<"cluster">, "kind">) {
  return kind === "ownership" ? schema.agent.ownershipCluster : schema.agent.fingerprintCluster;
}
