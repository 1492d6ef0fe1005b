import { asc, desc, gt } from "ponder";
import { timeline } from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import type { RowOf } from "./rowsById.ts";

/** One event of the timeline, with the table and the row that describe it. */
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
