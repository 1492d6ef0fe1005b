import { asc, desc, eq, gt, lt } from "ponder";
import { timeline } from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
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

/** The moment at this position; undefined if there is none. */
export async function momentAt(db: Database, position: string): Promise<TimelineRow | undefined> {
  const [row] = await db.select().from(timeline).where(eq(timeline.position, position)).limit(1);
  return row;
}

/** The last moment in the blocks up to this one; undefined if there is none. */
export async function lastMomentUpTo(db: Database, block: number): Promise<TimelineRow | undefined> {
  if (block < 0) return undefined;
  const next = `${String(block + 1).padStart(12, "0")}/00000000/0000000000000000`;
  const [row] = await db
    .select()
    .from(timeline)
    .where(lt(timeline.position, next))
    .orderBy(desc(timeline.position))
    .limit(1);
  return row;
}
