import { and, desc, eq, gt, sql } from "ponder";
import * as schema from "../../../ponder.schema.ts";
import { publishedField } from "../../derive/reputation.ts";
import type { Database } from "../graphql/context.ts";
import { type ClusterLoader, clusterOf } from "../rest/clusterOf.ts";
import { readCursor, writeCursor } from "../rest/cursor.ts";
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
  const { capabilityAgent: entry, agent } = schema;
  const after = cursor === undefined ? undefined : readCursor(cursor, ["number", "text"]);
  const rows = await db
    .select({ entry, agent })
    .from(entry)
    .innerJoin(agent, eq(agent.id, entry.agent))
    .where(
      and(
        eq(entry.capability, capability),
        gt(entry.weight, 0),
        eq(agent.privateListings, 0),
        after && sql`(${entry.weight}, ${entry.id}) < (${after[0]}::bigint, ${after[1]})`,
      ),
    )
    .orderBy(desc(entry.weight), desc(entry.id))
    .limit(limit + 1);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1)?.entry;
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
