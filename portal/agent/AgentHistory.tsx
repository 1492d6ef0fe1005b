import { type Bar, BarChart } from "../design/BarChart.tsx";
import { countOf } from "../design/countOf.ts";
import { formatDay } from "../design/format.ts";
import { Empty } from "../design/States.tsx";
import type { DaySeries } from "./agentQuery.ts";

/** The most days that are shown. The page asks for a month, so a longer answer is wrong. */
const MAX_DAYS = 62;

/** Shows an agent's hires day by day. */
export function AgentHistory({ series, title = "Hires day by day" }: { series: DaySeries; title?: string }) {
  const bars = barsOf(series);
  const hires = bars.reduce((sum, it) => sum + it.good + it.bad + it.other, 0);
  return (
    <section class="card" aria-labelledby="days">
      <div class="head">
        <h2 id="days">{title}</h2>
        {hires > 0 && (
          <span class="soft">
            <span class="key good">good</span> <span class="key other">neutral</span>{" "}
            <span class="key bad">bad</span>
          </span>
        )}
      </div>
      {hires > 0 ? (
        <BarChart
          bars={bars}
          caption={`${countOf(hires, "hire")} from ${formatDay(series.from)} to ${formatDay(series.to)}`}
        />
      ) : (
        <Empty>There was no hire in the last {bars.length} days.</Empty>
      )}
    </section>
  );
}

/** Makes one bar per day. The answer leaves out days without hires, but the chart shows them. */
export function barsOf({ from, to, days }: DaySeries): Bar[] {
  const byDay = new Map(days.map(({ day, figures }) => [day, figures]));
  const bars: Bar[] = [];
  const last = Date.parse(`${to}T00:00:00Z`);
  for (let at = Date.parse(`${from}T00:00:00Z`); at <= last && bars.length < MAX_DAYS; at += 86_400_000) {
    const label = new Date(at).toISOString().slice(0, 10);
    const { hires = 0, successes = 0, failures = 0 } = byDay.get(label) ?? {};
    bars.push({ label, good: successes, bad: failures, other: Math.max(0, hires - successes - failures) });
  }
  return bars;
}
