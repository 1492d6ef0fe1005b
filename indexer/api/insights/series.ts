import type { Tally } from "../../src/insights.ts";
import type { Database } from "../database.ts";
import { lastTick } from "../rows/state.ts";
import { agentDays, capabilityDays, marketDays } from "../rows/tallies.ts";
import { checkMetricsArePublic, figuresOf, type TallyFigures } from "./figures.ts";

/** The hires of one UTC day. Days without hires are left out. */
export type DayFigures = { day: string } & TallyFigures;

/** A series up to and including the day of the last tick. */
export type Series = { from: string; to: string; days: DayFigures[] };

export const DAY = 86_400;

/**
 * An agent's hires as the seller, day by day.
 *
 * @param days the number of days, at most a year
 * @throws TallystickError `unknown_agent`, `private_metrics`
 */
export async function agentSeries(db: Database, address: string, days: number): Promise<Series> {
  const [{ time }] = await Promise.all([lastTick(db), checkMetricsArePublic(db, address)]);
  const today = Math.floor(time / DAY);
  return seriesOf(await agentDays(db, address, { after: today - days, to: today }), today, days);
}

/** A capability's hires, day by day. Empty if there was never a hire. */
export async function capabilitySeries(db: Database, capability: string, days: number): Promise<Series> {
  const { time } = await lastTick(db);
  const today = Math.floor(time / DAY);
  const [rows = []] = await capabilityDays(db, [capability], { after: today - days, to: today });
  return seriesOf(rows, today, days);
}

/** All hires, day by day. */
export async function marketSeries(db: Database, days: number): Promise<Series> {
  const { time } = await lastTick(db);
  const today = Math.floor(time / DAY);
  return seriesOf(await marketDays(db, { after: today - days, to: today }), today, days);
}

function seriesOf(rows: (Tally & { day: number })[], today: number, days: number): Series {
  return {
    from: dateOf(today - days + 1),
    to: dateOf(today),
    days: rows.filter(({ hires }) => hires > 0).map((row) => ({ day: dateOf(row.day), ...figuresOf(row) })),
  };
}

/** The date of a day that is counted from 1970, such as `2026-01-31`. Earlier days give 1970-01-01. */
export function dateOf(day: number): string {
  return new Date(Math.max(0, day) * DAY * 1000).toISOString().slice(0, 10);
}
