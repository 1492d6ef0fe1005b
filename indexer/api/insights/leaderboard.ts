import { and, desc, eq, gt, sql } from "ponder";
import { publishedField } from "tallystick-derive/reputationOf";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { readCursor, writeCursor } from "../rest/cursor.ts";
import { type ClusterLoader, clusterIsNamed, clusterOf, keepCluster } from "../rows/clusters.ts";
import { prepared } from "../rows/prepared.ts";
import { figuresOf, type TallyFigures } from "./figures.ts";

/** An agent's hires in one capability over the window, and how it stands overall. */
export type Leader = {
  agent_id: string;
  trust_tier: number;
  success_rate: number | null;
  avg_stars: number | null;
  cluster_id: string | null;
  in_capability: TallyFigures;
};

export type Leaderboard = { capability: string; leaders: Leader[]; next_cursor: string | null };

/**
 * Who is hired most for a capability in the window: by weighted hires, so that a ring counts for one. Agents with private
 * metrics are left out.
 */
export async function leaderboard(
  db: Database,
  clusters: ClusterLoader,
  capability: string,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Leaderboard> {
  const after = cursor === undefined ? undefined : readCursor(cursor, ["number", "text"]);
  const rows = await statement(db, limit + 1, after !== undefined).execute({
    capability,
    ...(after !== undefined && { weight: after[0], id: after[1] }),
  });
  const shown = rows.slice(0, limit);
  const last = shown.at(-1)?.entry;
  for (const { cluster } of shown) keepCluster(clusters, cluster);
  return {
    capability,
    leaders: await Promise.all(
      shown.map(async (row) => {
        const cluster = await clusterOf(row.agent, clusters);
        return {
          agent_id: row.agent.id,
          trust_tier: publishedField(row.agent, "trust_tier"),
          success_rate: publishedField(row.agent, "success_rate"),
          avg_stars: publishedField(row.agent, "avg_stars"),
          cluster_id: cluster?.id ?? null,
          in_capability: figuresOf(row.entry),
        };
      }),
    ),
    next_cursor: rows.length > limit && last ? writeCursor([last.weight, last.id]) : null,
  };
}

type Entry = {
  entry: typeof schema.capabilityAgent.$inferSelect;
  agent: Row<"agent">;
  cluster: Row<"cluster"> | null;
};
type Statement = { execute: (values: Record<string, unknown>) => Promise<Entry[]> };

/** Prepared for each limit, as a search is. */
function statement(db: Database, limit: number, hasCursor: boolean): Statement {
  const { capabilityAgent: entry, agent, cluster } = schema;
  const name = `leaderboard_${limit}${hasCursor ? "_after" : ""}`;
  const after = sql`(${sql.placeholder("weight")}::bigint, ${sql.placeholder("id")}::text)`;
  const make = () =>
    db
      .select({ entry, agent, cluster })
      .from(entry)
      .innerJoin(agent, eq(agent.id, entry.agent))
      .leftJoin(cluster, clusterIsNamed)
      .where(
        and(
          eq(entry.capability, sql.placeholder("capability")),
          gt(entry.weight, 0),
          eq(agent.privateListings, 0),
          hasCursor ? sql`(${entry.weight}, ${entry.id}) < ${after}` : undefined,
        ),
      )
      .orderBy(desc(entry.weight), desc(entry.id))
      .limit(limit)
      .prepare(name) as Statement;
  return prepared(db, name, make);
}
