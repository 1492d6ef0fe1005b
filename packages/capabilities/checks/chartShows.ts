import { barBases, barsAt, barsFit } from "./barsFit.ts";
import { areLabelled, type Bar, chartBars } from "./chartBars.ts";
import type { ChartMarks, Patch } from "./chartMarks.ts";
import { axisPlaces, type Name, namedOrders, valueOrders } from "./chartOrders.ts";
import { correlation } from "./correlation.ts";
import { showThinBars } from "./thinBars.ts";

/** The smallest width of a bar, in samples, at which single bars can be distinguished. */
const MIN_SLOT_WIDTH = 6;

/** The width of a slot, in samples, below which the edges can hide so much of a bar that its length is not found. */
const THIN_SLOT_WIDTH = 9;

/**
 * The least length of the longest bar, in samples and as a share of the picture. Edges would hide the differences of
 * shorter bars.
 */
const MIN_LONGEST = [12, 0.1] as const;

/**
 * The largest difference between a slice's share and its value's share. Outlines and labels hide a part of a
 * slice.
 */
const MAX_SHARE_OFF = 0.07;

/**
 * Finds what is wrong with a bar chart of these values: the number of bars, or their lengths. Bars may be
 * vertical or horizontal, and the axis may begin anywhere. There is no complaint if the bars are too thin to
 * be distinguished.
 *
 * @param names the names of the values; without them, the values have an order that the bars must keep
 */
export function barComplaint(
  marks: ChartMarks,
  values: number[],
  names: readonly Name[] = values.map((_, at) => at),
): string | undefined {
  const largest = Math.max(...values.map(Math.abs));
  // Zeros have no bars.
  if (largest === 0) return undefined;
  const slot = Math.max(marks.width, marks.height) / values.length;
  if (slot < MIN_SLOT_WIDTH) {
    const thick = chartBars(marks, false).find(({ from, to }) => to - from + 1 > 6 * slot);
    return thick ? `has bars that are too wide for ${values.length} values` : undefined;
  }
  // Squares of very large values would be infinite.
  const sizes = values.map((value) => value / largest);
  const complaint = barsComplaint(marks, sizes, names);
  if (complaint === undefined || isThinChart(marks, sizes, names)) return undefined;
  return marks.onMargin === undefined ? complaint : barsComplaint(marks.onMargin, sizes, names);
}

/**
 * Whether the bars of one direction are too thin for their lengths to be measured one by one, and together have the
 * shape of the data. In a high picture these are standing bars, in a wide one lying bars.
 */
function isThinChart(marks: ChartMarks, values: number[], names: readonly Name[]): boolean {
  const orders = [...namedOrders(names), ...valueOrders(names, values)];
  const sorted = orders.map((order) => order.map((at) => values[at] as number));
  if (marks.width / values.length < THIN_SLOT_WIDTH && showThinBars(marks.traces, sorted)) return true;
  if (marks.height / values.length >= THIN_SLOT_WIDTH) return false;
  // Lying bars may begin at the top or at the bottom.
  const both = [...sorted, ...sorted.map((it) => [...it].reverse())];
  return showThinBars(marks.lyingTraces(), both);
}

function barsComplaint(marks: ChartMarks, values: number[], names: readonly Name[]): string | undefined {
  const standing = chartBars(marks, false);
  if (showBars(marks, standing, values, names, false)) return undefined;
  if (showBars(marks, chartBars(marks, true), values, names, true)) return undefined;
  // A bar for a tiny value may be too flat to be visible. A symbol of the legend may look like one more bar.
  const least = values.filter((value) => Math.abs(value) >= 0.08).length;
  const isCount = standing.length >= least && standing.length <= values.length + 1;
  return isCount
    ? "has bars of other lengths than the data"
    : `has ${standing.length} bars for ${values.length} values`;
}

/**
 * Whether bars show the values in one of the orders that a chart may have. Horizontal bars may begin at the bottom.
 * Bars that are sorted by value need labels, because only labels say which bar belongs to which name.
 */
function showBars(
  marks: ChartMarks,
  all: Bar[],
  values: number[],
  names: readonly Name[],
  isLying: boolean,
): boolean {
  // Each value has a place of this width. A wider patch is not a bar: it may be several standing bars that look like
  // one lying bar.
  const [across, along] = isLying ? [marks.height, marks.width] : [marks.width, marks.height];
  const place = across / values.length;
  const thin = all.filter(({ from, to }) => to - from + 1 <= place);
  return barBases(thin).some((base) => {
    const bars = barsAt(thin, base);
    const longest = Math.max(0, ...bars.map(({ low, high }) => high - low));
    if (longest < Math.max(MIN_LONGEST[0], MIN_LONGEST[1] * along)) return false;
    const isShown = (order: number[]): boolean =>
      barsFit(
        bars,
        base,
        order.map((at) => values[at] as number),
      );
    const orders = namedOrders(names);
    if (orders.some(isShown)) return true;
    if (isLying && orders.some((order) => isShown([...order].reverse()))) return true;
    return valueOrders(names, values).some(isShown) && areLabelled(marks, bars, base, isLying);
  });
}

/**
 * Finds what is wrong with a line chart of these values: it has bars, or no line follows the values. Points may have
 * equal distances, or the distances of the numbers or days that are their names.
 */
export function lineComplaint(
  marks: ChartMarks,
  values: number[],
  names: readonly Name[] = values.map((_, at) => at),
): string | undefined {
  if (values.length >= 2 && values.length <= 60 && looksLikeBars(marks, values.length)) {
    return "shows bars, not a line";
  }
  if (showsDisc(marks)) return "shows a disc, not a line";
  if (values.length < 3 || new Set(values).size < 2) return undefined;
  // Squares of very large values would be infinite, and those of very small ones zero.
  const largest = Math.max(...values.map(Math.abs));
  const sizes = values.map((value) => value / largest);
  const isShown = linesOf(sizes, names).some((line) =>
    marks.traces.some(({ tops, middles }) => [tops, middles].some((trace) => follows(trace, line))),
  );
  return isShown ? undefined : "has no line that follows the data";
}

/** Points from left to right. The first has the place 0, the last has the place 1. */
type Points = { place: number; value: number }[];

/** The lines that show these values. */
function linesOf(values: number[], names: readonly Name[]): Points[] {
  const places = axisPlaces(names);
  const last = values.length - 1;
  return namedOrders(names).flatMap((order) => {
    const sorted = order.map((at) => values[at] as number);
    const lines = [sorted.map((value, at) => ({ place: at / last, value }))];
    const scale = places && order.map((at) => places[at] as number);
    const [from, to] = [scale?.[0] ?? 0, scale?.[last] ?? 0];
    const isRising = scale?.every((place, at) => at === 0 || place > (scale[at - 1] as number));
    if (scale && isRising)
      lines.push(sorted.map((value, at) => ({ place: ((scale[at] as number) - from) / (to - from), value })));
    return lines;
  });
}

function looksLikeBars(marks: ChartMarks, count: number): boolean {
  if (marks.onMargin && looksLikeBars(marks.onMargin, count)) return true;
  const bars = chartBars(marks, false).filter(({ from, to }) => to - from + 1 > (0.3 * marks.width) / count);
  return bars.length >= Math.max(2, 0.6 * count);
}

/** Whether a trace follows the points from its first column to its last. */
function follows(trace: number[], points: Points): boolean {
  const first = trace.findIndex((y) => y >= 0);
  const last = trace.findLastIndex((y) => y >= 0);
  if (first < 0 || last - first < 0.35 * trace.length) return false;
  const [drawn, wanted]: [number[], number[]] = [[], []];
  let next = 1;
  for (let x = first; x <= last; x++) {
    const y = trace[x] as number;
    if (y < 0) continue;
    const place = (x - first) / (last - first);
    while (next < points.length - 1 && (points[next]?.place ?? 1) < place) next++;
    const [from, to] = [points[next - 1], points[next]] as [Points[number], Points[number]];
    drawn.push(-y);
    wanted.push(from.value + ((place - from.place) / (to.place - from.place)) * (to.value - from.value));
  }
  return drawn.length >= 0.2 * (last - first) && correlation(drawn, wanted) >= 0.88;
}

/** Finds what is wrong with a pie chart of these values: there is no disc, or the slices have other sizes. */
export function pieComplaint(marks: ChartMarks, values: number[]): string | undefined {
  const total = values.reduce((sum, value) => sum + value, 0);
  if (total === 0) return undefined;
  const shares = values.map((value) => value / total).sort((a, b) => b - a);
  const clear = shares.filter((share) => share >= 0.02);
  if (clear.length > 24) return undefined;
  if (looksLikeBars(marks, values.length) && values.length > 1) return "shows bars, not a disc";
  const large = marks.patches
    .filter(
      ({ left, right, top, bottom }) =>
        right - left < 0.98 * marks.width && bottom - top < 0.98 * marks.height,
    )
    .sort((a, b) => b.area - a.area)
    .slice(0, clear.length);
  const drawn = large.reduce((sum, { area }) => sum + area, 0);
  if (drawn < 0.02 * marks.width * marks.height || !isRound(marks, large)) return "shows no disc";
  const isOff = clear.some((share, at) => {
    const seen = (large[at]?.area ?? 0) / drawn;
    return Math.abs(share - seen) > Math.min(MAX_SHARE_OFF, 0.015 + 0.3 * share);
  });
  return !isOff ? undefined : "has slices of other sizes than the data";
}

/** Whether the largest patches together form a disc that fills a noticeable part of the picture. */
function showsDisc(marks: ChartMarks): boolean {
  const largest = [...marks.patches].sort((a, b) => b.area - a.area).slice(0, 24);
  const area = largest.reduce((sum, patch) => sum + patch.area, 0);
  if (area < 0.08 * marks.width * marks.height) return false;
  const slices = largest.filter((patch) => patch.area >= 0.02 * area);
  const box = (patches: Patch[]): number =>
    (Math.max(...patches.map(({ right }) => right)) - Math.min(...patches.map(({ left }) => left))) *
    (Math.max(...patches.map(({ bottom }) => bottom)) - Math.min(...patches.map(({ top }) => top)));
  const fill = slices.reduce((sum, patch) => sum + patch.area, 0) / box(slices);
  return fill >= 0.6 && fill <= 0.85 && isRound(marks, slices);
}

/** Whether patches form a disc: it is about as high as wide, and the corners of its box are empty. */
function isRound({ isPatch }: ChartMarks, patches: Patch[]): boolean {
  const left = Math.min(...patches.map((patch) => patch.left));
  const right = Math.max(...patches.map((patch) => patch.right));
  const top = Math.min(...patches.map((patch) => patch.top));
  const bottom = Math.max(...patches.map((patch) => patch.bottom));
  const [wide, high] = [right - left + 1, bottom - top + 1];
  if (wide > 2.2 * high || high > 1.6 * wide) return false;
  let [filled, count] = [0, 0];
  for (let x = 0; x < 0.1 * wide; x++) {
    for (let y = 0; y < 0.1 * high; y++) {
      for (const [column, row] of [
        [left + x, top + y],
        [right - x, top + y],
        [left + x, bottom - y],
        [right - x, bottom - y],
      ] as const) {
        count++;
        if (isPatch(column, row)) filled++;
      }
    }
  }
  return filled <= 0.1 * count;
}
