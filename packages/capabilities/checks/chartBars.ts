import type { ChartMarks } from "./chartMarks.ts";

/**
 * A bar, in samples: its place across the chart, and its ends in the direction in which values grow. `low` is
 * the bottom of a standing bar, counted upwards, and the left end of a lying bar.
 */
export type Bar = { from: number; to: number; low: number; high: number };

/**
 * Finds the bars: patches that fill their box, from left to right or from top to bottom. Pieces of one bar, which
 * grid lines may cut, are joined.
 */
export function chartBars({ width, height, patches }: ChartMarks, isLying: boolean): Bar[] {
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
        ? { from: top, to: bottom, low: left, high: right + 1 }
        : { from: left, to: right, low: height - bottom - 1, high: height - top },
    )
    .sort((a, b) => a.from - b.from);
  const joined: Bar[] = [];
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
  return joined.filter(({ from, to }) => Math.abs(to - from + 1 - usual) <= Math.max(2, 0.2 * usual));
}

/** Whether something is written at every bar: beyond the end at which it stands, or in it. */
export function areLabelled(marks: ChartMarks, bars: Bar[], base: number, isLying: boolean): boolean {
  const [across, along] = isLying ? [marks.height, marks.width] : [marks.width, marks.height];
  const at = (place: number, level: number): [number, number] =>
    isLying ? [level, place] : [place, marks.height - 1 - level];
  const gap = Math.max(0, ...bars.slice(1).map(({ from }, before) => from - (bars[before]?.to ?? from)));
  const reach = Math.min(gap, across / bars.length) / 2;
  return bars.every(({ from, to, low, high }) => {
    // A tick of the axis is not a label.
    const hangs = Math.abs(high - base) < Math.abs(low - base);
    const start = Math.round(hangs ? base + 4 : base - 4 - 0.3 * along);
    let [beyond, inside] = [0, 0];
    for (
      let place = Math.max(0, Math.ceil(from - reach));
      place <= Math.min(across - 1, to + reach);
      place++
    ) {
      for (let level = Math.max(0, start); level < Math.min(along, start + 0.3 * along); level++) {
        if (marks.isInk(...at(place, level))) beyond++;
      }
      if (place < from + 2 || place > to - 2) continue;
      for (let level = low + 2; level < high - 2; level++) if (!marks.isPatch(...at(place, level))) inside++;
    }
    return Math.max(beyond, inside) >= MIN_LABEL;
  });
}

/** The least number of samples of a label. A single letter has more. */
const MIN_LABEL = 6;
