import type { Trace } from "./chartMarks.ts";
import { correlation } from "./correlation.ts";

/** The least correlation between the lengths in the columns of a picture and the values. */
const MIN_CORRELATION = 0.88;

/** A bar that is shorter than this share of the longest one may be invisible. */
const INVISIBLE = 0.02;

/** How far a column may end from the line on which the bars stand, in samples and as a share of the longest bar. */
const FOOT_OFF = [2, 0.03] as const;

/** The share of columns that must stand on that line. */
const MIN_STANDING = 0.9;

/**
 * Whether one colour has the shape of values that are drawn as thin bars, which touch one line. Single bars are not
 * measured.
 *
 * @param lists the values in each order in which the chart may show them, as shares of the largest
 */
export function showThinBars(traces: readonly Trace[], lists: readonly (readonly number[])[]): boolean {
  return traces.some((trace) => {
    const columns = columnsOf(trace);
    return standOnLine(columns) && lists.some((values) => follow(columns, withoutInvisibleEnds(values)));
  });
}

/**
 * One column of a colour: its place in the picture, its highest and its lowest sample. Both are counted upwards from
 * the bottom.
 */
type Column = { at: number; high: number; low: number };

function columnsOf({ tops, middles }: Trace): Column[] {
  return tops.flatMap((top, at) =>
    top < 0 ? [] : [{ at, high: -top, low: top - 2 * (middles[at] as number) }],
  );
}

/** Whether nearly all columns begin or end at one line. The columns of a curve do not. */
function standOnLine(columns: readonly Column[]): boolean {
  const middleOf = (levels: number[]): number => levels.sort((a, b) => a - b)[levels.length >> 1] ?? 0;
  const longest = Math.max(0, ...columns.map(({ high, low }) => high - low));
  const most = Math.max(FOOT_OFF[0], FOOT_OFF[1] * longest);
  return [middleOf(columns.map(({ low }) => low)), middleOf(columns.map(({ high }) => high))].some((base) => {
    const standing = columns.filter(
      ({ high, low }) => Math.abs(low - base) <= most || Math.abs(high - base) <= most,
    );
    return standing.length >= MIN_STANDING * columns.length;
  });
}

/** Whether the middles of the columns rise and fall with the values. The middle of a negative bar is below the line. */
function follow(columns: readonly Column[], values: readonly number[]): boolean {
  const [first, last] = [columns[0]?.at ?? 0, columns.at(-1)?.at ?? 0];
  const slot = (last - first + 1) / values.length;
  if (columns.length < 0.2 * (last - first)) return false;
  const drawn = columns.map(({ high, low }) => high + low);
  const wanted = columns.map(
    ({ at }) => values[Math.min(values.length - 1, Math.floor((at - first) / slot))] as number,
  );
  return correlation(drawn, wanted) >= MIN_CORRELATION;
}

/**
 * The bars at both ends may be invisible. So the first and the last column belong to the first and the last visible
 * bar.
 */
function withoutInvisibleEnds(values: readonly number[]): readonly number[] {
  const isVisible = (value: number): boolean => Math.abs(value) >= INVISIBLE;
  return values.slice(values.findIndex(isVisible), values.findLastIndex(isVisible) + 1);
}
