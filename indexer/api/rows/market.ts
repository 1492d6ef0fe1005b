import { NO_HIRES, type Tally } from "../../src/insights.ts";
import { addCounts, type MarketCounts, NO_COUNTS } from "../../src/marketCounts.ts";
import type { Database } from "../database.ts";
import { rowsById } from "./rowsById.ts";

/** The totals of the market; zeros before the first event. */
export async function marketCounts(db: Database): Promise<MarketCounts> {
  const [row] = await rowsById(db, "marketCount", ["market"]);
  return row === undefined ? NO_COUNTS : addCounts(NO_COUNTS, row);
}

/** The sums over all hires: of the window, and of all time. */
export async function marketTotals(db: Database): Promise<{ window: Tally; all: Tally }> {
  const rows = await rowsById(db, "marketTotal", ["window", "all"]);
  const of = (id: string): Tally => rows.find((row) => row.id === id) ?? NO_HIRES;
  return { window: of("window"), all: of("all") };
}
