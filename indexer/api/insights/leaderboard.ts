import { publishedField } from "tallystick-derive/reputationOf";
import type { Database } from "../database.ts";
import { cutPage, type Page, readCursor } from "../rest/cursor.ts";
import { type ClusterLoader, clusterOf, keepCluster } from "../rows/clusters.ts";
import { type LeaderPlace, leadersAfter } from "../rows/tallies.ts";
import { figuresOf, type TallyFigures } from "./figures.ts";

/** An agent's hires in one capability over the window, and its overall figures. */
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
 * The agents that are hired most for a capability in the window. Hires are weighted, so a ring counts like
 * one agent. Agents with private metrics are left out; the client pays for the `skipped` ones.
 */
export async function leaderboard(
  db: Database,
  clusters: ClusterLoader,
  capability: string,
  { limit, cursor }: Page,
): Promise<{ answer: Leaderboard; skipped: number }> {
  const after = cursor === undefined ? undefined : (readCursor(cursor, ["number", "text"]) as LeaderPlace);
  const { rows, skipped } = await leadersAfter(db, capability, after, limit + 1);
  const { shown, next_cursor } = cutPage(rows, limit, ({ entry }) => [entry.weight, entry.id]);
  for (const { cluster } of shown) keepCluster(clusters, cluster);
  const answer = {
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
    next_cursor,
  };
  return { answer, skipped };
}
