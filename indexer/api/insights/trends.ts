import { sumTallies } from "../../src/insights.ts";
import type { Database } from "../database.ts";
import { type Page, pageOf } from "../rest/cursor.ts";
import { lastTick } from "../rows/state.ts";
import { capabilityDays, capabilityList } from "../rows/tallies.ts";
import { figuresOf, type TallyFigures } from "./figures.ts";

/** This week up to the day of the last tick, and the week before. */
export type Fortnight = { last_7_days: TallyFigures; previous_7_days: TallyFigures };

/** A capability's figures over the window, and over its last two weeks. */
export type Trend = { capability: string; window: TallyFigures } & Fortnight;

export type Trends = { capabilities: Trend[]; next_cursor: string | null };

const DAY = 86_400;
const WEEK = 7;

/**
 * The capabilities with hires, those with the most weighted hires in the window first. Each page reads the
 * last two weeks of its own capabilities.
 */
export async function capabilityTrends(db: Database, page: Page): Promise<Trends> {
  const [{ shown, next_cursor }, { time }] = await Promise.all([
    pageOf(db, capabilityList(), page),
    lastTick(db),
  ]);
  const names = shown.map(({ capability }) => capability);
  const weeks = await fortnights(db, names, time);
  return {
    capabilities: shown.map((row, n) => ({
      capability: row.capability,
      window: figuresOf(row),
      ...(weeks[n] as Fortnight),
    })),
    next_cursor,
  };
}

/**
 * The last two weeks of some capabilities, in the given order, read together.
 *
 * @param time of the last tick, unix seconds
 */
export async function fortnights(
  db: Database,
  capabilities: readonly string[],
  time: number,
): Promise<Fortnight[]> {
  const today = Math.floor(time / DAY);
  const found = await capabilityDays(db, capabilities, { after: today - 2 * WEEK, to: today });
  return found.map((days) => ({
    last_7_days: figuresOf(sumTallies(days.filter(({ day }) => day > today - WEEK))),
    previous_7_days: figuresOf(sumTallies(days.filter(({ day }) => day <= today - WEEK))),
  }));
}
