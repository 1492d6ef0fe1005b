import DataLoader from "dataloader";
import type { SQL } from "drizzle-orm";
import { and, eq, gte, isNull, sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { isPossible } from "./byKey.ts";
import type { RowList } from "./list.ts";
import { rowsById } from "./rowsById.ts";

/** Loads the clusters that ids mean now, many at once. */
export type ClusterLoader = DataLoader<string, Row<"cluster"> | null>;

/** A loader for the answers of one request. */
export function clusterLoader(db: Database): ClusterLoader {
  return new DataLoader((ids: readonly string[]) => clusterRoots(db, ids));
}

/**
 * Joins agents with the cluster that their row names. If that cluster was merged into another cluster, the
 * loader has to follow the merges.
 */
export const clusterIsNamed = sql`${schema.cluster.id} = coalesce(${schema.agent.ownershipCluster}, ${schema.agent.fingerprintCluster})`;

/** Gives the loader a cluster that was read together with its agent. */
export function keepCluster(clusters: ClusterLoader, found: Row<"cluster"> | null): void {
  if (found !== null && found.parent === found.id) clusters.prime(found.id, found);
}

/** An agent's cluster: by shared ownership, else by similar listings. */
export async function clusterOf(
  { ownershipCluster, fingerprintCluster }: Pick<Row<"agent">, "ownershipCluster" | "fingerprintCluster">,
  clusters: ClusterLoader,
): Promise<Row<"cluster"> | null> {
  const first = ownershipCluster ?? fingerprintCluster;
  return first === null ? null : clusters.load(first);
}

/**
 * Follows `parent` for all ids together. It takes as many queries as the longest path, which the derivation
 * keeps short.
 */
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

/** The ids of clusters and of all clusters that were merged into them, as rows (`root`, `id`) of `merged`. */
function withMerged(ids: readonly string[]): SQL {
  const { cluster } = schema;
  return sql`WITH RECURSIVE merged AS (
    SELECT id AS root, id FROM unnest(${sql.param([...ids])}::text[]) AS asked (id)
    UNION ALL
    SELECT merged.root, part.id FROM merged
      CROSS JOIN LATERAL (SELECT ${cluster.id} FROM ${cluster} WHERE ${cluster.mergedInto} = merged.id OFFSET 0) AS part
  )`;
}

/**
 * The ids of clusters with everything that was merged into them. An agent's row keeps the cluster that it
 * joined first, so a merge does not rewrite every member and is followed here.
 */
export async function clusterParts(db: Database, ids: readonly string[]): Promise<string[][]> {
  const { rows } = await db.execute<{ root: string; ids: string[] }>(
    sql`${withMerged(ids)} SELECT root, array_agg(id ORDER BY id) AS ids FROM merged GROUP BY root`,
  );
  const parts = new Map(rows.map((row) => [row.root, row.ids]));
  return ids.map((id) => parts.get(id) ?? [id]);
}

/** The column that names the cluster that an agent joined first. */
function memberColumn({ kind }: Pick<Row<"cluster">, "kind">) {
  return kind === "ownership" ? schema.agent.ownershipCluster : schema.agent.fingerprintCluster;
}

/** A cluster from {@link clusterParts}: its own id and the ids of all clusters that were merged into it. */
export type WholeCluster = Pick<Row<"cluster">, "kind"> & { parts: readonly string[] };

/** The condition that an agent is in a cluster. */
export function isMember({ kind, parts }: WholeCluster): SQL {
  return sql`${memberColumn({ kind })} = ANY (${sql.param([...parts])}::text[])`;
}

/** The agents in a cluster, by the cluster that they joined first, then in the order in which they registered. */
export function memberList(cluster: WholeCluster): RowList<Row<"agent">> {
  const { agent } = schema;
  return {
    table: agent,
    order: [memberColumn(cluster), agent.registeredBlock, agent.registeredLog, agent.id],
    direction: "asc",
    where: isMember(cluster),
  };
}

/** In the order in which they formed, or the largest first. */
export type ClusterOrder = "formed" | "size";

/** Clusters that were not merged into another cluster. */
export function clusterList(
  { kind, minSize }: { kind?: string | null; minSize?: number | null },
  orderBy: ClusterOrder = "formed",
): RowList<Row<"cluster">> {
  const { cluster } = schema;
  const largeEnough = gte(cluster.size, Math.max(1, minSize ?? 1));
  const isTheirs = and(isNull(cluster.mergedInto), kind ? eq(cluster.kind, kind) : undefined);
  if (orderBy === "size") {
    const order = [cluster.size, cluster.ordinal, cluster.id];
    return { table: cluster, order, direction: "desc", where: largeEnough, filter: isTheirs };
  }
  const order = [cluster.ordinal, cluster.id];
  return { table: cluster, order, direction: "asc", filter: and(isTheirs, largeEnough) };
}

/** The position of a member in its cluster: the block and the log of its registration, and its address. */
export type MemberPlace = [block: number, log: number, address: string];

/**
 * The first `limit` members of a cluster after a place, in the order of their registration. An agent's row names the
 * cluster that it joined first. So this reads the first few members of each cluster that was merged into this one.
 */
export async function membersAfter(
  db: Database,
  { id, kind }: Pick<Row<"cluster">, "id" | "kind">,
  after: MemberPlace | undefined,
  limit: number,
): Promise<MemberPlace[]> {
  const { agent } = schema;
  const [block, log, address] = after ?? [-1, -1, ""];
  const { rows } = await db.execute<{ id: string; registered_block: string; registered_log: string }>(sql`
    ${withMerged([id])}
    SELECT member.* FROM merged CROSS JOIN LATERAL (
      SELECT ${agent.id}, ${agent.registeredBlock}, ${agent.registeredLog} FROM ${agent}
      WHERE ${memberColumn({ kind })} = merged.id
        AND (${agent.registeredBlock}, ${agent.registeredLog}, ${agent.id}) > (${block}::bigint, ${log}::bigint, ${address})
      ORDER BY ${agent.registeredBlock}, ${agent.registeredLog}, ${agent.id} LIMIT ${limit}
    ) member
    ORDER BY registered_block, registered_log, id LIMIT ${limit}`);
  return rows.map((row) => [Number(row.registered_block), Number(row.registered_log), row.id]);
}
