import { formatDay, formatNumber } from "./format.ts";

export type Bar = { label: string; good: number; bad: number; other: number };

const [WIDTH, HEIGHT] = [640, 120];

/** Shows daily counts as bars: successes, failures, and the rest. A hidden list says the same figures. */
export function BarChart({ bars, caption }: { bars: readonly Bar[]; caption: string }) {
  const most = Math.max(1, ...bars.map(({ good, bad, other }) => good + bad + other));
  const step = WIDTH / Math.max(bars.length, 1);
  // A node may answer anything. A value that is not a count is drawn as zero.
  const scale = (count: number): number => (count > 0 && count <= most ? (count / most) * (HEIGHT - 4) : 0);
  return (
    <figure class="chart">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" role="img" aria-label={caption}>
        {bars.map(({ label, good, bad, other }, n) => {
          const parts: [kind: string, count: number][] = [
            ["good", good],
            ["other", other],
            ["bad", bad],
          ];
          let top = HEIGHT;
          return (
            <g key={label}>
              <title>{wordsOf({ label, good, bad, other })}</title>
              <rect class="ground" x={n * step + step * 0.14} y={0} width={step * 0.72} height={HEIGHT} />
              {parts.map(([kind, count]) => {
                top -= scale(count);
                return (
                  <rect
                    key={kind}
                    class={kind}
                    x={n * step + step * 0.14}
                    y={top}
                    width={step * 0.72}
                    height={scale(count)}
                  />
                );
              })}
            </g>
          );
        })}
        <rect class="floor" x={0} y={HEIGHT - 1} width={WIDTH} height={1} />
      </svg>
      <ul class="visually-hidden">
        {bars
          .filter(({ good, bad, other }) => good + bad + other > 0)
          .map((bar) => (
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
