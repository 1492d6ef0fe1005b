import type { ChartMarks, Patch } from "./chartMarks.ts";

/**
 * The lowest correlation between the drawn and the requested values. A truncated axis or a soft edge reduces
 * it only a little.
 */
const MIN_CORRELATION = 0.9;

/** The smallest width of a bar, in samples, at which single bars can be distinguished. */
const MIN_SLOT_WIDTH = 6;

/**
 * The largest difference between a slice's share and its value's share. Outlines and labels hide a part of a
 * slice.
 */
const MAX_SHARE_OFF = 0.07;

/**
 * Finds what is wrong with a bar chart of these values: the number of bars, or their lengths. Bars may be
 * vertical or horizontal, and the axis may begin anywhere. There is no complaint if the bars are too thin to
 * be distinguished.
 */
export function barComplaint(marks: ChartMarks, values: number[]): string | undefined {
  // Zeros have no bars.
  if (values.every((value) => value === 0)) return undefined;
  const standing = barsOf(marks, false);
  const lying = barsOf(marks, true);
  const slot = Math.max(marks.width, marks.height) / values.length;
  if (slot < MIN_SLOT_WIDTH) {
    const thick = standing.find((bar) => bar.across > 6 * slot);
    return thick ? `has bars that are too wide for ${values.length} values` : undefined;
  }
  const complaints = [standing, lying].map((bars) => barsComplaint(bars, values));
  return complaints.some((complaint) => complaint === undefined) ? undefined : complaints[0];
}

type Bar = { at: number; along: number; across: number };

/**
 * Finds the bars: patches that fill their box, in order. Pieces of one bar, which grid lines may cut, are
 * joined.
 */
function barsOf({ width, height, patches }: ChartMarks, isLying: boolean): Bar[] {
  const boxes = patches
    .filter(({ left, right, top, bottom, area }) => {
      const [wide, high] = [right - left + 1, bottom - top + 1];
      // Bands of the background are too wide to be bars, and the symbols of a legend and letters are too
      // small.
      const [maxWidth, maxHeight] = isLying ? [0.97, 0.75] : [0.75, 0.97];
      const isBand = wide > maxWidth * width || high > maxHeight * height;
      return area >= 0.75 * wide * high && !isBand && area >= 12;
    })
    .map(({ left, right, top, bottom }) =>
      isLying
        ? { from: top, to: bottom, low: left, high: right }
        : { from: left, to: right, low: top, high: bottom },
    )
    .sort((a, b) => a.from - b.from);
  const joined: typeof boxes = [];
  for (const box of boxes) {
    const last = joined.at(-1);
    const isSame = last && Math.abs(last.from - box.from) <= 1 && Math.abs(last.to - box.to) <= 1;
    if (!isSame) joined.push({ ...box });
    else {
      last.low = Math.min(last.low, box.low);
      last.high = Math.max(last.high, box.high);
    }
  }
  // All bars of a chart have the same width. Other patches are legend symbols or frames.
  const widths = joined.map(({ from, to }) => to - from + 1).sort((a, b) => a - b);
  const usual = widths[Math.floor(widths.length / 2)] ?? 0;
  return joined
    .filter(({ from, to }) => Math.abs(to - from + 1 - usual) <= Math.max(2, 0.2 * usual))
    .map(({ from, to, low, high }) => ({
      at: (from + to) / 2,
      along: high - low + 1,
      across: to - from + 1,
    }));
}

function barsComplaint(bars: Bar[], values: number[]): string | undefined {
  const largest = Math.max(...values.map(Math.abs));
  // A bar for a tiny value may be too flat to be visible.
  const least = values.filter((value) => Math.abs(value) >= 0.08 * largest).length;
  // A symbol of the legend may look like one more bar.
  if (bars.length < Math.min(least, values.length) || bars.length > values.length + 1) {
    return `has ${bars.length} bars for ${values.length} values`;
  }
  const lengths = bars.map(({ along }) => along);
  const tall = values.map(Math.abs);
  const visible = tall.filter((value) => value >= 0.08 * largest);
  for (const wanted of [tall, visible, [...visible].reverse(), [...tall].reverse()]) {
    for (let skip = 0; skip + wanted.length <= lengths.length; skip++) {
      if (agree(lengths.slice(skip, skip + wanted.length), wanted)) return undefined;
    }
  }
  return "has bars of other lengths than the data";
}

/** Finds what is wrong with a line chart of these values: it has bars, or no line follows the values. */
export function lineComplaint(marks: ChartMarks, values: number[]): string | undefined {
  if (values.length >= 2 && values.length <= 60 && looksLikeBars(marks, values.length)) {
    return "shows bars, not a line";
  }
  if (showsDisc(marks)) return "shows a disc, not a line";
  if (values.length < 3 || new Set(values).size < 2) return undefined;
  const isShown = marks.traces.some(({ tops, middles }) =>
    [tops, middles].some((trace) => follows(trace, values)),
  );
  return isShown ? undefined : "has no line that follows the data";
}

function looksLikeBars(marks: ChartMarks, count: number): boolean {
  const bars = barsOf(marks, false).filter(({ across }) => across > (0.3 * marks.width) / count);
  return bars.length >= Math.max(2, 0.6 * count);
}

/** Whether a trace follows the values from its first column to its last. */
function follows(trace: number[], values: number[]): boolean {
  const first = trace.findIndex((y) => y >= 0);
  const last = trace.findLastIndex((y) => y >= 0);
  if (first < 0 || last - first < 0.35 * trace.length) return false;
  const [drawn, wanted]: [number[], number[]] = [[], []];
  for (let x = first; x <= last; x++) {
    const y = trace[x] as number;
    if (y < 0) continue;
    const position = ((x - first) / (last - first)) * (values.length - 1);
    const at = Math.floor(position);
    const [from, to] = [values[at] as number, values[Math.min(at + 1, values.length - 1)] as number];
    drawn.push(-y);
    wanted.push(from + (position - at) * (to - from));
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

function agree(drawn: number[], wanted: number[]): boolean {
  if (wanted.length < 2) return true;
  const spread = Math.max(...wanted) - Math.min(...wanted);
  if (spread <= 0.02 * Math.max(...wanted))
    return Math.max(...drawn) - Math.min(...drawn) <= 0.15 * Math.max(...drawn);
  if (wanted.length === 2)
    return (
      Math.sign(Number(drawn[0]) - Number(drawn[1])) === Math.sign(Number(wanted[0]) - Number(wanted[1]))
    );
  return correlation(drawn, wanted) >= MIN_CORRELATION;
}

/** Pearson's correlation; 0 if one of the lists is constant. */
function correlation(a: number[], b: number[]): number {
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [meanA, meanB] = [mean(a), mean(b)];
  let [both, ofA, ofB] = [0, 0, 0];
  for (let at = 0; at < a.length; at++) {
    const [x, y] = [Number(a[at]) - meanA, Number(b[at]) - meanB];
    both += x * y;
    ofA += x * x;
    ofB += y * y;
  }
  return ofA === 0 || ofB === 0 ? 0 : both / Math.sqrt(ofA * ofB);
}
