import { asc, desc, eq, gt, sql } from "ponder";
import { timeline } from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { FINAL_END } from "./checkpoint.ts";
import type { RowOf } from "./rowsById.ts";

/** A moment of the timeline: one event, with the table and the row that describe it. */
export type TimelineRow = RowOf<"timeline">;

/** The last `limit` moments, the earliest of them first. */
export async function latestMoments(db: Database, limit: number): Promise<TimelineRow[]> {
  const found = await db.select().from(timeline).orderBy(desc(timeline.position)).limit(limit);
  return found.reverse();
}

/** The first `limit` moments after a position, in their order. */
export async function momentsAfter(db: Database, position: string, limit: number): Promise<TimelineRow[]> {
  return await db
    .select()
    .from(timeline)
    .where(gt(timeline.position, position))
    .orderBy(asc(timeline.position))
    .limit(limit);
}

/** Whether there is a moment at this position. */
export async function isMoment(db: Database, position: string): Promise<boolean> {
  const found = await db.select().from(timeline).where(eq(timeline.position, position)).limit(1);
  return found.length > 0;
}

/**
 * Of the moments that no reorganization can remove, the last one up to a position; null if there is none. A position in
 * a final block is given back unchanged.
 */
export async function lastFinalMoment(db: Database, position: string): Promise<string | null> {
  const { rows } = await db.execute<{ last: string | null }>(sql`
    SELECT CASE WHEN ${position}::text < bound THEN ${position}::text
      ELSE (SELECT max(position) FROM timeline WHERE position < bound) END AS last
    FROM (SELECT ${FINAL_END} AS bound FROM _ponder_checkpoint LIMIT 1) AS final`);
  return rows[0]?.last ?? null;
}
