import { formatUsdc } from "tallystick-protocol/amount";
import { addTallies, MICRO, NO_HIRES, type Tally } from "../../src/insights.ts";
import type { Database } from "../database.ts";
import { lastTick } from "../rows/state.ts";
import { agentDays } from "../rows/tallies.ts";
import { figuresOf, share } from "./figures.ts";
import { DAY, dateOf } from "./series.ts";

/** An agent's rates at the end of a day, over the window that ends with it. */
export type DayRates = {
  day: string;
  hires: number;
  weighted_hires: number;
  success_rate: number | null;
  avg_latency_ms: number | null;
  volume_usdc: string;
};

export type RateHistory = { from: string; to: string; window_days: number; days: DayRates[] };

/** The published rates have a window of the same length. */
export const WINDOW_DAYS = 30;

/**
 * The history of an agent's rates as a seller. Each day has the rates over the thirty days that end with it,
 * dampened like the published rates. It uses whole days and the outcomes that are known now, so a figure may
 * differ from the one that was published on that day.
 *
 * @param days the number of days, at most a year; the last one is the day of the last tick
 */
export async function agentHistory(db: Database, address: string, days: number): Promise<RateHistory> {
  const { time } = await lastTick(db);
  const today = Math.floor(time / DAY);
  const first = today - days + 1;
  const rows = await agentDays(db, address, { after: first - WINDOW_DAYS, to: today });
  const byDay = new Map<number, Tally>(rows.map((row) => [row.day, row]));
  let sum = NO_HIRES;
  const found: DayRates[] = [];
  for (let day = first - WINDOW_DAYS + 1; day <= today; day++) {
    sum = addTallies(sum, byDay.get(day) ?? NO_HIRES);
    const left = byDay.get(day - WINDOW_DAYS);
    if (left !== undefined) sum = addTallies(sum, negative(left));
    if (day >= first) found.push(ratesOf(day, sum));
  }
  return { from: dateOf(first), to: dateOf(today), window_days: WINDOW_DAYS, days: found };
}

function ratesOf(day: number, sum: Tally): DayRates {
  return {
    day: dateOf(day),
    hires: sum.hires,
    weighted_hires: sum.weight / MICRO,
    success_rate: share(sum.successWeight, sum.ratedWeight),
    avg_latency_ms: figuresOf(sum).avg_latency_ms,
    volume_usdc: formatUsdc(sum.volume),
  };
}

function negative(tally: Tally): Tally {
  return Object.fromEntries(
    (Object.keys(NO_HIRES) as (keyof Tally)[]).map((name) => [name, -tally[name]]),
  ) as Tally;
}
