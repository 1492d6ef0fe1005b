import type { Row } from "../../tables.ts";
import { isLatency } from "./terms.ts";

/** The most daily closes that a trend uses, and the fewest that it needs. */
const MAX_CLOSES = 7;
const MIN_CLOSES = 3;

/**
 * A century. A trend that reaches the threshold only later counts as never reaching it. Otherwise a threshold of 30
 * years of latency and a slope of one millisecond a day would give more days than a 32-bit number of GraphQL can
 * hold.
 */
const MAX_DAYS = 36_500n;

type Close = { day: number; value: bigint };

/** Adds the close of one more day, and keeps the last seven. */
export function withClose(closes: string, day: number, value: bigint): string {
  const kept = closes === "" ? [] : closes.split(";");
  return [...kept, `${day}:${value}`].slice(-MAX_CLOSES).join(";");
}

function parseCloses(text: string): Close[] {
  if (text === "") return [];
  return text.split(";").map((item) => {
    const [day, value] = item.split(":") as [string, string];
    return { day: Number(day), value: BigInt(value) };
  });
}

/**
 * The number of days until the figure reaches the threshold if its trend continues, rounded up. The trend is by least
 * squares over the last daily closes, and begins at the current value. Null with fewer than three closes, and if the
 * trend does not lead there within a century.
 */
export function daysUntilBreach(
  of: Pick<Row<"guarantee">, "metric" | "closes" | "threshold">,
  current: bigint,
): number | null {
  const closes = parseCloses(of.closes);
  const n = BigInt(closes.length);
  if (closes.length < MIN_CLOSES) return null;
  let [sumX, sumY, sumXY, sumXX] = [0n, 0n, 0n, 0n];
  for (const { day, value } of closes) {
    const x = BigInt(day - (closes[0] as Close).day);
    sumX += x;
    sumY += value;
    sumXY += x * value;
    sumXX += x * x;
  }
  // The slope is rise/run. `run` is above 0, because the days differ.
  const sign = isLatency(of) ? 1n : -1n;
  const rise = sign * (n * sumXY - sumX * sumY);
  const run = n * sumXX - sumX * sumX;
  const left = sign * (of.threshold - current);
  if (rise <= 0n || left < 0n) return null;
  const days = (left * run + rise - 1n) / rise;
  return days > MAX_DAYS ? null : Number(days);
}
