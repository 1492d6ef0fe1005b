import type { Bar } from "./chartBars.ts";

/**
 * How far a tip may be from its place, in samples and as a share of the longest bar. Edges and grid lines move tips.
 */
const TIP_OFF = [2, 0.03] as const;

/** The same on an axis that begins at zero. Only the scale of this axis is free, so the tips must be nearer. */
const ZERO_TIP_OFF = [1.5, 0.01] as const;

/** The longest bar that may be missing, in samples and as a share of the longest bar. It is too flat to be found. */
const MAX_MISSING = [5, 0.08] as const;

/** How far below zero the axis of values that are not negative may begin, as a share of the largest value. */
const BELOW_ZERO = 0.15;

/** A line on which the tips lie: `tip = slope · value + start`. */
type Line = { slope: number; start: number };

/**
 * The line at which the bars stand. Most bars begin there or most bars end there, and bars of negative values hang from
 * it. Of these two lines, the result is the one that is nearer to all bars. If both are equally near, it has both.
 */
export function barBases(bars: readonly Bar[]): number[] {
  const lows = bars.map(({ low }) => low).sort((a, b) => a - b);
  const highs = bars.map(({ high }) => high).sort((a, b) => a - b);
  const bases = [lows[Math.floor(lows.length / 2)], highs[Math.floor((highs.length - 1) / 2)]]
    .filter((base) => base !== undefined)
    .map((base) => ({ base, off: bars.reduce((sum, bar) => sum + distance(bar, base), 0) }));
  const least = Math.min(...bases.map(({ off }) => off));
  return bases.filter(({ off }) => off === least).map(({ base }) => base);
}

/** The bars that begin or end at a line. A bar that fades away at its foot begins a little later. */
export function barsAt(bars: readonly Bar[], base: number): Bar[] {
  const longest = Math.max(0, ...bars.map(({ low, high }) => high - low));
  return bars.filter((bar) => distance(bar, base) <= footOff(longest));
}

/** The distance from a line to the nearer end of a bar. */
function distance({ low, high }: Bar, base: number): number {
  return Math.min(Math.abs(low - base), Math.abs(high - base));
}

/** How far the feet of bars may be from their line. */
function footOff(longest: number): number {
  return Math.max(4, 0.15 * longest);
}

/**
 * Whether bars that stand at a line show values in this order: the tips of all bars lie on one scale, on which the line
 * is at zero or below the values. Bars of values near zero may be missing, and a symbol of the legend may be the first
 * or the last bar.
 */
export function barsFit(bars: readonly Bar[], base: number, values: readonly number[]): boolean {
  const tips = bars.map(
    ({ low, high }) => (Math.abs(high - base) >= Math.abs(low - base) ? high : low) - base,
  );
  if (tips.length === values.length + 1)
    return [0, 1].some((at) => tipsFit(tips.slice(at, at + values.length), values));
  if (tips.length > values.length || tips.length === 0) return false;
  return [Math.abs, Number].some((size) => {
    const missing = flattest(values, values.length - tips.length, size);
    return tipsFit(
      tips,
      values.filter((_, at) => !missing.has(at)),
      [...missing].map((at) => values[at] as number),
    );
  });
}

/** The indices of the values with the smallest size. */
function flattest(values: readonly number[], count: number, size: (value: number) => number): Set<number> {
  const ranked = values
    .map((value, at) => ({ at, size: size(value) }))
    .sort((a, b) => a.size - b.size || a.at - b.at);
  return new Set(ranked.slice(0, count).map(({ at }) => at));
}

function tipsFit(
  tips: readonly number[],
  values: readonly number[],
  missing: readonly number[] = [],
): boolean {
  if (scaleFits(tips, values, missing)) return true;
  // On an axis that grows to the left or downwards, a longer bar still shows a larger value.
  const isMirrored = [...values, ...missing].every((value) => value >= 0);
  return (
    isMirrored &&
    scaleFits(
      tips.map((tip) => -tip),
      values,
      missing,
    )
  );
}

function scaleFits(tips: readonly number[], values: readonly number[], missing: readonly number[]): boolean {
  const longest = Math.max(...tips.map(Math.abs));
  const isOn = ({ slope, start }: Line, off: readonly [number, number]): boolean =>
    values.every(
      (value, at) => Math.abs((tips[at] as number) - slope * value - start) <= off[0] + off[1] * longest,
    ) && missing.every((value) => isFlat(value < 0 ? -(slope * value + start) : slope * value + start));
  const isFlat = (length: number): boolean =>
    length >= -footOff(longest) && length <= Math.max(MAX_MISSING[0], MAX_MISSING[1] * longest);
  const fromZero = zeroLine(tips, values);
  if (fromZero.slope > 0 && isOn(fromZero, ZERO_TIP_OFF)) return true;
  const free = nearestLine(tips, values);
  return isOn(free, TIP_OFF) && isPossibleBase(free, [...values, ...missing], footOff(longest));
}

/**
 * Whether bars may begin at this value: at zero, or below the values, but not so far below that all bars look alike.
 */
function isPossibleBase({ slope, start }: Line, values: readonly number[], off: number): boolean {
  const [least, most] = [Math.min(...values), Math.max(...values)];
  if (least === most) return true;
  const size = Math.max(Math.abs(least), Math.abs(most));
  const first = least >= 0 ? -BELOW_ZERO * size : least - size;
  const last = most > 0 ? Math.max(0, least) : BELOW_ZERO * size;
  return slope > 0 && slope * first + start <= 0 && slope * last + start >= -off;
}

/** The nearest line (least squares) on which zero has no length. */
function zeroLine(tips: readonly number[], values: readonly number[]): Line {
  let [both, squares] = [0, 0];
  for (const [at, value] of values.entries()) {
    both += value * (tips[at] as number);
    squares += value * value;
  }
  return { slope: squares === 0 ? 0 : both / squares, start: 0 };
}

/** The nearest line (least squares). Equal values lie on a level line. */
function nearestLine(tips: readonly number[], values: readonly number[]): Line {
  const mean = (list: readonly number[]): number => list.reduce((sum, one) => sum + one / list.length, 0);
  const [middle, level] = [mean(values), mean(tips)];
  let [both, squares] = [0, 0];
  for (const [at, value] of values.entries()) {
    both += (value - middle) * ((tips[at] as number) - level);
    squares += (value - middle) ** 2;
  }
  const slope = squares === 0 ? 0 : both / squares;
  return { slope, start: level - slope * middle };
}
