import { formatDay, formatNumber } from "./format.ts";

export type Bar = { label: string; good: number; bad: number; other: number };

const [WIDTH, HEIGHT] = [640, 120];

/** The parts of a bar, from its foot to its top. */
const KINDS = ["good", "other", "bad"] as const;

/**
 * Shows daily counts as bars: successes, failures, and the rest. A hidden list gives the same figures to screen
 * readers. Each colour is one path, so that a chart of many days has few elements.
 */
export function BarChart({ bars, caption }: { bars: readonly Bar[]; caption: string }) {
  const most = Math.max(1, ...bars.map(({ good, bad, other }) => good + bad + other));
  const step = WIDTH / Math.max(bars.length, 1);
  const [left, width] = [step * 0.14, step * 0.72];
  // A node may answer anything. A value that is not a count is drawn as zero.
  const scale = (count: number): number => (count > 0 && count <= most ? (count / most) * (HEIGHT - 4) : 0);
  const box = (n: number, top: number, height: number): string =>
    height > 0 ? `M${n * step + left} ${top}h${width}v${height}h${-width}z` : "";
  const used = bars.flatMap((bar, n) => (bar.good + bar.bad + bar.other > 0 ? [{ bar, n }] : []));
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={caption}>
        <path class="ground" d={bars.map((_, n) => box(n, 0, HEIGHT)).join("")} />
        {KINDS.map((kind, at) => (
          <path
            key={kind}
            class={kind}
            d={used
              .map(({ bar, n }) => {
                const foot = KINDS.slice(0, at).reduce((sum, below) => sum + scale(bar[below]), 0);
                const height = scale(bar[kind]);
                return box(n, HEIGHT - foot - height, height);
              })
              .join("")}
          />
        ))}
        <rect class="floor" x={0} y={HEIGHT - 1} width={WIDTH} height={1} />
        {used.map(({ bar, n }) => (
          <rect key={bar.label} class="day" x={n * step} y={0} width={step} height={HEIGHT}>
            <title>{wordsOf(bar)}</title>
          </rect>
        ))}
      </svg>
      <ul class="visually-hidden">
        {used.map(({ bar }) => (
          <li key={bar.label}>{wordsOf(bar)}</li>
        ))}
      </ul>
      <figcaption>
        <span>{formatDay(bars[0]?.label)}</span>
        <span>most on one day: {formatNumber(most)}</span>
        <span>{formatDay(bars.at(-1)?.label)}</span>
      </figcaption>
    </figure>
  );
}

function wordsOf({ label, good, bad, other }: Bar): string {
  return `${formatDay(label)}: ${formatNumber(good)} good, ${formatNumber(bad)} bad, ${formatNumber(other)} neutral`;
}
