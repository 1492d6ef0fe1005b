import { and, desc, gt, inArray, lte, sql } from "ponder";
import * as schema from "../../ponder.schema.ts";
import { sumTallies } from "../../src/insights.ts";
import type { Database } from "../database.ts";
import { readCursor, writeCursor } from "../rest/cursor.ts";
import { lastTick } from "../rows/state.ts";
import { figuresOf, type TallyFigures } from "./figures.ts";

/** A capability over the window, this week and the week before. */
export type Trend = {
  capability: string;
  window: TallyFigures;
  last_7_days: TallyFigures;
  previous_7_days: TallyFigures;
};

export type Trends = { capabilities: Trend[]; next_cursor: string | null };

const DAY = 86_400;
const WEEK = 7;

/** What agents are hired for, most first by weighted hires in the window; each page reads its own fortnight of days. */
export async function capabilityTrends(
  db: Database,
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<Trends> {
  const { capabilityTotal: total } = schema;
  const after = cursor === undefined ? undefined : readCursor(cursor, ["number", "text"]);
  const [rows, { time }] = await Promise.all([
    db
      .select()
      .from(total)
      .where(
        and(
          gt(total.weight, 0),
          after && sql`(${total.weight}, ${total.id}) < (${after[0]}::bigint, ${after[1]})`,
        ),
      )
      .orderBy(desc(total.weight), desc(total.id))
      .limit(limit + 1),
    lastTick(db),
  ]);
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const today = Math.floor(time / DAY);
  const days = await fortnight(
    db,
    shown.map((row) => row.capability),
    today,
  );
  return {
    capabilities: shown.map((row) => {
      const own = days.get(row.capability) ?? [];
      const sum = (some: DayRow[]) => figuresOf(sumTallies(some));
      return {
        capability: row.capability,
        window: figuresOf(row),
        last_7_days: sum(own.filter(({ day }) => day > today - WEEK)),
        previous_7_days: sum(own.filter(({ day }) => day <= today - WEEK)),
      };
    }),
    next_cursor: rows.length > limit && last ? writeCursor([last.weight, last.id]) : null,
  };
}

type DayRow = typeof schema.capabilityDay.$inferSelect;

async function fortnight(
  db: Database,
  capabilities: string[],
  today: number,
): Promise<Map<string, DayRow[]>> {
  if (capabilities.length === 0) return new Map();
  const { capabilityDay } = schema;
  const rows = await db
    .select()
    .from(capabilityDay)
    .where(
      and(
        inArray(capabilityDay.capability, capabilities),
        gt(capabilityDay.day, today - 2 * WEEK),
        lte(capabilityDay.day, today),
      ),
    );
  return Map.groupBy(rows, (row) => row.capability);
}
