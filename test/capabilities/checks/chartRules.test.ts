import { expect } from "chai";
import type { ChartMarks, Patch } from "tallystick-capabilities/checks/chartMarks";
import { barComplaint, lineComplaint, pieComplaint } from "tallystick-capabilities/checks/chartShows";

/** A patch that fills its box, or the given share of it. */
const patch = (left: number, top: number, wide: number, high: number, filled = 1): Patch => ({
  ...{ left, top, right: left + wide - 1, bottom: top + high - 1, area: wide * high * filled },
});
const marksOf = (patches: Patch[], changes: Partial<ChartMarks> = {}): ChartMarks => ({
  ...{
    width: 200,
    height: 100,
    patches,
    traces: [],
    lyingTraces: () => [],
    isPatch: () => false,
    isInk: () => false,
  },
  ...changes,
});
/** Standing bars of these lengths, 20 wide, on one ground. */
const bars = (...lengths: number[]): Patch[] =>
  lengths.map((length, at) => patch(5 + 30 * at, 90 - length, 20, length));
const lying = (...lengths: number[]): Patch[] =>
  lengths.map((length, at) => patch(10, 5 + 15 * at, length, 10));

describe("a bar chart", () => {
  const said = (patches: Patch[], values: number[]) => barComplaint(marksOf(patches), values);
  const values = [10, 25, 18, 40];
  const others = "has bars of other lengths than the data";

  it("has a bar for each value, of its length, standing or lying, in the order of the values", () => {
    expect(said(bars(20, 50, 36, 80), values)).to.equal(undefined);
    expect(said(bars(80, 36, 50, 20), values), "the reverse order").to.equal(others);
    expect(said(lying(120, 54, 75, 30), values), "from the bottom").to.equal(undefined);
    expect(said(lying(30, 75, 54, 120), values)).to.equal(undefined);
    expect(said(bars(20, 50, 36, 80).reverse(), values), "whatever the order of the patches").to.equal(
      undefined,
    );
    expect(said(bars(30, 60, 46, 88), values), "a cut axis").to.equal(undefined);
    expect(said(bars(16, 31, 24, 46), values), "an axis from a little below zero").to.equal(undefined);
    expect(
      said(bars(40, 55, 48, 70), values),
      "an axis from so far below zero that bars look alike",
    ).to.equal(others);
    expect(said(bars(50, 20, 80, 36), values)).to.equal(others);
    expect(said(bars(50, 50, 50, 50), values)).to.equal(others);
    expect(said(bars(20, 50, 36, 80), [-10, 25, -18, 40]), "signs").to.equal(others);
  });

  it("may lack the bars of tiny values and zeros, and have one symbol of a legend more", () => {
    expect(said(bars(50, 36, 80), [3, 25, 18, 40])).to.equal(undefined);
    expect(said(bars(50, 36, 80), [0, 25, 18, 40])).to.equal(undefined);
    expect(said(bars(50, 36, 80), [4, 25, 18, 40])).to.equal("has 3 bars for 4 values");
    expect(said(bars(20, 50, 36, 80, 10), values)).to.equal(undefined);
    expect(said(bars(20, 50, 36, 80, 10, 10), values)).to.equal("has 6 bars for 4 values");
    expect(said([], values)).to.equal("has 0 bars for 4 values");
    expect(said([], [0, 0])).to.equal(undefined);
    expect(said([], [0, 25, 18, 40])).to.equal("has 0 bars for 4 values");
    expect(said(bars(80, 36, 50), [3, 25, 18, 40]), "in another order").to.equal(others);
    expect(said(bars(80, 29, 40), [8, 50, 36, 100])).to.equal("has 3 bars for 4 values");
  });

  it("has a longest bar of at least twelve samples, and a tenth of the picture", () => {
    expect(said(bars(3, 8, 5, 12), values)).to.equal(undefined);
    expect(said(bars(3, 7, 5, 11), values)).to.equal(others);
    const high = (...lengths: number[]) => barComplaint(marksOf(bars(...lengths), { height: 200 }), values);
    expect([high(5, 13, 9, 20), high(5, 12, 9, 19)]).to.deep.equal([undefined, others]);
    for (const unit of [1e300, 1e-300])
      expect(
        said(
          bars(20, 50, 36, 80),
          values.map((value) => value * unit),
        ),
      ).to.equal(undefined);
  });

  it("may be on the ground of its margin, and in any order that its names have", () => {
    const right = bars(20, 50, 36, 80);
    expect(barComplaint(marksOf(right, { onMargin: marksOf([]) }), values)).to.equal(undefined);
    expect(barComplaint(marksOf([], { onMargin: marksOf(right) }), values)).to.equal(undefined);
    expect(barComplaint(marksOf([], { onMargin: marksOf([]) }), values)).to.equal("has 0 bars for 4 values");
    const names = [4, 1, 3, 2];
    expect(barComplaint(marksOf(right), values, names), "as given").to.equal(undefined);
    expect(barComplaint(marksOf(bars(50, 80, 36, 20)), values, names), "by name").to.equal(undefined);
    expect(barComplaint(marksOf(lying(120, 54, 75, 30)), values, names), "from the bottom").to.equal(
      undefined,
    );
    const rising = bars(20, 36, 50, 80);
    const words = ["d", "a", "c", "b"];
    const isIn = (x: number, y: number) =>
      rising.some(({ left, right, top, bottom }) => x >= left && x <= right && y >= top && y <= bottom);
    expect(
      barComplaint(marksOf(rising, { isPatch: isIn, isInk: () => true }), values, words),
      "with labels",
    ).to.equal(undefined);
    expect(
      barComplaint(marksOf(rising, { isPatch: isIn, isInk: isIn }), values, words),
      "without labels",
    ).to.equal(others);
  });

  it("has thin bars that have the shape of the values together, if each has less than nine samples", () => {
    const shape = (count: number) => Array.from({ length: count }, (_, at) => 1 + ((at * 7) % count));
    /** A column of each value's length for each sample of its place. */
    const traceOf = (of: number[], size: number, place: number) => {
      const lengths = Array.from(
        { length: size },
        (_, x) => (of[Math.floor(x / place)] ?? 0) / Math.max(...of),
      );
      return {
        tops: lengths.map((length) => (length === 0 ? -1 : 100 - 90 * length)),
        middles: lengths.map((length) => (length === 0 ? -1 : 100 - 45 * length)),
      };
    };
    const standing = (of: number[], drawn: number[], width = 200) =>
      barComplaint(marksOf([], { width, traces: [traceOf(drawn, width, width / of.length)] }), of);
    const [many, few] = [shape(25), shape(22)];
    expect(standing(many, many)).to.equal(undefined);
    expect(standing(many, [...many].reverse())).to.equal("has 0 bars for 25 values");
    expect(standing(few, few)).to.equal("has 0 bars for 22 values");
    expect(standing(few, few, 198)).to.equal("has 0 bars for 22 values");
    expect(standing(few, few, 197)).to.equal(undefined);
    const lyingOf = (of: number[], drawn: number[], height = 100) =>
      barComplaint(
        marksOf([], { height, lyingTraces: () => [traceOf(drawn, height, height / of.length)] }),
        of,
      );
    const [twelve, eleven] = [shape(12), shape(11)];
    expect(lyingOf(twelve, twelve)).to.equal(undefined);
    expect(lyingOf(twelve, [...twelve].reverse()), "from the bottom").to.equal(undefined);
    expect(lyingOf(twelve, [...twelve.slice(5), ...twelve.slice(0, 5)])).to.equal("has 0 bars for 12 values");
    expect(lyingOf(eleven, eleven)).to.equal("has 0 bars for 11 values");
    expect(lyingOf(eleven, eleven, 99)).to.equal("has 0 bars for 11 values");
    expect(lyingOf(eleven, eleven, 98)).to.equal(undefined);
  });

  it("of equal values has bars of nearly equal length, and of two values the larger bar for the larger value", () => {
    expect(said(bars(90, 89, 85), [10, 10, 10])).to.equal(undefined);
    expect(said(bars(90, 88, 80), [10, 10, 10])).to.equal(others);
    expect(said(bars(90, 89, 87), [10, 10, 9.8])).to.equal(undefined);
    expect(said(bars(90, 89, 10), [10, 10, 9.8]), "a cut axis").to.equal(undefined);
    expect(said(bars(10, 90, 89), [10, 10, 9.8])).to.equal(others);
    expect(said(bars(30, 80), [10, 11])).to.equal(undefined);
    expect(said(bars(50, 50), [10, 11])).to.equal(others);
    expect(said(bars(30), [10])).to.equal(undefined);
  });

  it("has bars that fill their box, are no bands, are all about as wide, and may be cut by lines", () => {
    const good = bars(20, 50, 36);
    const tall = (changes: Partial<Patch>): Patch[] => [
      ...good,
      { ...(bars(0, 0, 0, 80)[3] as Patch), ...changes },
    ];
    const three = "has 3 bars for 4 values";
    expect(said(tall({ area: 0.75 * 1_600 }), values)).to.equal(undefined);
    expect(said(tall({ area: 0.74 * 1_600 }), values)).to.equal(three);
    expect(said([...good, patch(95, 10, 24, 80)], values), "a little wider").to.equal(undefined);
    expect(said([...good, patch(95, 10, 25, 80)], values)).to.equal(three);
    expect(said([...bars(20, 50, 36, 80), patch(0, 95, 151, 4)], values), "a band").to.equal(undefined);
    expect(said([...bars(20, 50, 36, 80), patch(0, 95, 3, 3)], values), "a letter").to.equal(undefined);
    const cut = [...good, patch(95, 10, 20, 30), patch(95, 41, 20, 49), patch(96, 60, 20, 5)];
    expect(said(cut, values)).to.equal(undefined);
    expect(said([...good, patch(95, 10, 20, 30), patch(97, 41, 20, 49)], values)).to.equal(others);
  });

  it("is not compared bar by bar if the bars are too thin, but they must be thin then", () => {
    const many = Array.from({ length: 34 }, (_, n) => n + 1);
    // Each value has 200 / 34 = 5.9 samples.
    expect(said([], many)).to.equal(undefined);
    expect(said([patch(0, 10, 35, 50)], many)).to.equal(undefined);
    expect(said([patch(0, 10, 36, 50)], many)).to.equal("has bars that are too wide for 34 values");
    expect(said([], many.slice(0, 33))).to.equal("has 0 bars for 33 values");
    expect(barComplaint(marksOf([], { width: 204 }), many), "six samples").to.equal(
      "has 0 bars for 34 values",
    );
    const forty = Array.from({ length: 40 }, (_, n) => n + 1);
    expect(said([patch(100, 10, 30, 50)], forty)).to.equal(undefined);
    expect(said([patch(100, 10, 31, 50)], forty)).to.equal("has bars that are too wide for 40 values");
  });
});

describe("a line chart", () => {
  const values = [10, 40, 20, 60, 30];
  /** A trace that follows values over some columns; -1 where it has no sample. */
  const trace = (of: number[], from = 10, to = 190, keep = (_: number): boolean => true) =>
    Array.from({ length: 200 }, (_, x) => {
      if (x < from || x > to || !keep(x)) return -1;
      const position = ((x - from) / (to - from)) * (of.length - 1);
      const at = Math.min(Math.floor(position), of.length - 2);
      const [a, b] = [of[at] as number, of[at + 1] as number];
      return 90 - (a + (b - a) * (position - at));
    });
  const nothing = Array(200).fill(-1);
  const said = (tops: number[], middles: number[], of = values, patches: Patch[] = []) =>
    lineComplaint(
      marksOf(patches, {
        traces: [
          { tops: nothing, middles: nothing },
          { tops, middles },
        ],
      }),
      of,
    );
  const missing = "has no line that follows the data";

  it("has a line, by its upper edge or its middle, that follows the values", () => {
    expect(said(trace(values), nothing)).to.equal(undefined);
    expect(said(nothing, trace(values))).to.equal(undefined);
    expect(said(trace([...values].reverse()), nothing)).to.equal(missing);
    expect(said(trace(values.map((value) => 70 - value)), nothing), "upside down").to.equal(missing);
    expect(said(nothing, nothing)).to.equal(missing);
    expect(said(trace(values.map((value) => value / 3 + 20)), nothing), "another axis").to.equal(undefined);
  });

  it("has a line over at least a third of the width, with a sample in a fifth of its columns", () => {
    expect(said(trace(values, 50, 120), nothing)).to.equal(undefined);
    expect(said(trace(values, 50, 119), nothing)).to.equal(missing);
    expect(said(trace(values, 0, 190), nothing), "from the edge").to.equal(undefined);
    expect(
      said(
        trace(values, 100, 190, (x) => x % 4 === 2),
        nothing,
      ),
      "at the right",
    ).to.equal(undefined);
    expect(
      said(
        trace(values, 10, 190, (x) => x % 4 === 2),
        nothing,
      ),
    ).to.equal(undefined);
    expect(
      said(
        trace(values, 10, 190, (x) => x % 6 === 4),
        nothing,
      ),
    ).to.equal(missing);
  });

  it("may have the distances of numbers or days between its points, and their order", () => {
    const [places, values] = [
      [0, 1, 2, 40],
      [10, 60, 20, 50],
    ];
    const atPlaces = Array.from({ length: 41 }, (_, x) =>
      x < 1 ? 10 : x < 2 ? 60 : 20 + (30 * (x - 2)) / 38,
    );
    const saidOf = (shown: number[], names?: (string | number)[], of = values): string | undefined =>
      lineComplaint(
        marksOf([], { traces: [{ tops: trace(shown), middles: nothing }] }),
        of as number[],
        names,
      );
    const days = (places as number[]).map((at) =>
      new Date(Date.UTC(2026, 0, 1 + at)).toISOString().slice(0, 10),
    );
    for (const names of [places, days]) {
      expect(saidOf(atPlaces, names)).to.equal(undefined);
      expect(saidOf(values as number[], names), "equal distances").to.equal(undefined);
      expect(saidOf([...atPlaces].reverse(), names)).to.equal(missing);
    }
    expect(saidOf(atPlaces, ["a", "b", "c", "d"])).to.equal(missing);
    expect(saidOf([10, 60, 20, 50], [4, 3, 2, 1], [50, 20, 60, 10])).to.equal(undefined);
    expect(saidOf([50, 20, 60, 10], [1, 2, 3, 4])).to.equal(missing);
  });

  it("follows very large and very small numbers", () => {
    for (const unit of [1e300, 1e-300]) {
      const sizes = values.map((value) => value * unit);
      expect(said(trace(values), nothing, sizes)).to.equal(undefined);
      expect(said(trace([...values].reverse()), nothing, sizes)).to.equal(missing);
    }
  });

  it("is not compared for two values, or for values that are all equal", () => {
    for (const few of [[10, 20], [10], [5, 5, 5, 5]]) expect(said(nothing, nothing, few)).to.equal(undefined);
    for (const few of [
      [10, 20, 30],
      [5, 5, 6, 6],
    ])
      expect(said(nothing, nothing, few)).to.equal(missing);
    const fromZero = [0, 40, 20, 60, 30];
    expect(said(trace(fromZero), nothing, fromZero)).to.equal(undefined);
  });

  it("is no bar chart and no disc", () => {
    const wide = "shows bars, not a line";
    expect(said(trace(values), nothing, values, bars(20, 50, 36, 80, 60))).to.equal(wide);
    expect(said(trace(values), nothing, values, bars(20, 50, 36))).to.equal(wide);
    expect(said(trace(values), nothing, values, bars(20, 50))).to.equal(undefined);
    const thin = [20, 50, 36, 80, 60].map((length, at) => patch(5 + 30 * at, 90 - length, 12, length));
    expect(said(trace(values), nothing, values, thin)).to.equal(undefined);
    const thick = [20, 50, 36, 80, 60].map((length, at) => patch(5 + 30 * at, 90 - length, 13, length));
    expect(said(trace(values), nothing, values, thick)).to.equal(wide);
    const margin = marksOf(bars(20, 50, 36, 80, 60));
    expect(lineComplaint(marksOf([], { onMargin: margin }), values), "on its margin").to.equal(wide);
    expect(said(nothing, nothing, [10], bars(20, 50)), "of one value").to.equal(undefined);
    const row = (count: number) =>
      lineComplaint(
        marksOf(
          Array.from({ length: count }, (_, at) => patch(5 + 12 * at, 30, 8, 60)),
          { width: 800 },
        ),
        Array.from({ length: count }, (_, at) => at % 7),
      );
    expect([row(60), row(61)], "of more than 60 values").to.deep.equal([wide, missing]);
    const disc = "shows a disc, not a line";
    for (const [filled, complaint] of [
      [0.58, undefined],
      [0.59, disc],
      [0.82, disc],
      [0.83, undefined],
    ] as const)
      expect(said(trace(values), nothing, values, [patch(70, 20, 60, 60, filled)])).to.equal(complaint);
    const quarters = [patch(70, 20, 30, 30, 0.7), patch(100, 20, 30, 30, 0.7)];
    quarters.push(patch(70, 50, 30, 30, 0.7), patch(100, 50, 30, 30, 0.7));
    expect(said(trace(values), nothing, values, quarters), "of four slices").to.equal(disc);
    const letters = Array.from({ length: 30 }, (_, at) => patch(6 * at, 95, 3, 2));
    expect(said(trace(values), nothing, values, [...letters, ...quarters]), "with letters").to.equal(disc);
    expect(said(trace(values), nothing, values, [patch(70, 20, 44, 44, 0.78)]), "small").to.equal(undefined);
    expect(said(trace(values), nothing, values, [patch(20, 40, 111, 50, 0.78)]), "flat").to.equal(undefined);
  });
});

describe("a pie chart", () => {
  /** Slices of a disc from (50, 10) to (129, 89). Only their areas are compared. */
  const slices = (...shares: number[]): Patch[] =>
    shares.map((share) => ({ ...patch(50, 10, 80, 80), area: 5_000 * share }));
  const said = (patches: Patch[], values: number[], changes: Partial<ChartMarks> = {}) =>
    pieComplaint(marksOf(patches, changes), values);
  const sizes = "has slices of other sizes than the data";
  const none = "shows no disc";

  it("has slices in proportion to the values, in any order, and tiny values may have none", () => {
    expect(said(slices(0.4, 0.3, 0.2, 0.1), [40, 30, 20, 10])).to.equal(undefined);
    expect(said(slices(0.1, 0.4, 0.2, 0.3), [30, 20, 10, 40])).to.equal(undefined);
    expect(said(slices(0.7, 0.1, 0.1, 0.1), [40, 30, 20, 10])).to.equal(sizes);
    expect(said(slices(0.4, 0.3, 0.3), [40, 30, 20, 10])).to.equal(sizes);
    expect(said(slices(0.6, 0.4), [59, 40, 1])).to.equal(undefined);
    expect(said(slices(0.47, 0.53), [60, 40]), "at most 0.07 off").to.equal(undefined);
    expect(said(slices(0.46, 0.54), [62, 38])).to.equal(sizes);
    expect(said(slices(0.5, 0.5), [50, 47, 3]), "a slice is missing").to.equal(sizes);
    expect(said(slices(0.9, 0.1), [95, 5]), "nearer for a small slice").to.equal(sizes);
    expect(said([], [0, 0])).to.equal(undefined);
    expect(said([], Array(25).fill(1)), "too many to be compared").to.equal(undefined);
    expect(said([], Array(24).fill(1))).to.equal(none);
    // A slice of less than a fiftieth is not one of those that are compared.
    expect(said([], [...Array(24).fill(1), 0.1])).to.equal(none);
    expect(said([], Array(50).fill(1)), "a fiftieth each").to.equal(undefined);
  });

  it("has a disc: large enough, about as high as wide, with empty corners", () => {
    expect(said(slices(0.079), [1])).to.equal(none);
    expect(said(slices(0.08), [1])).to.equal(undefined);
    const shape = (wide: number, high: number) => said([{ ...patch(0, 0, wide, high), area: 3_000 }], [1]);
    expect([shape(110, 50), shape(111, 50)]).to.deep.equal([undefined, none]);
    expect([shape(60, 96), shape(60, 97)]).to.deep.equal([undefined, none]);
    // 8 × 8 samples of each corner are looked at, and a tenth of them may be filled.
    const filled = (count: number) => {
      let left = count;
      const isPatch = (x: number, y: number) => x < 58 && y < 18 && left-- > 0;
      return said(slices(1), [1], { isPatch });
    };
    expect([filled(25), filled(26)]).to.deep.equal([undefined, none]);
    for (const [x, y] of [
      [50, 10],
      [129, 10],
      [50, 89],
      [129, 89],
    ] as const) {
      const near = (a: number, b: number) => Math.abs(a - x) < 8 && Math.abs(b - y) < 8;
      expect(said(slices(1), [1], { isPatch: near }), `${x} ${y}`).to.equal(none);
    }
    const frame = patch(0, 0, 198, 99);
    expect(said([frame, ...slices(0.6, 0.4)], [60, 40]), "a frame is no slice").to.equal(undefined);
    for (const band of [patch(0, 10, 197, 50), patch(20, 0, 50, 99)])
      expect(said([band, ...slices(0.6, 0.4)], [60, 40]), "nor a band").to.equal(undefined);
    expect(said([{ ...patch(115, 15, 80, 80), area: 5_000 }], [1]), "at the right").to.equal(undefined);
    const pair = (second: [left: number, top: number], wide: number, high: number) =>
      said([patch(0, 0, wide, high, 0.5), patch(...second, wide, high, 0.5)], [1, 1]);
    expect([pair([0, 0], 90, 50), pair([90, 0], 90, 50)], "too wide").to.deep.equal([undefined, none]);
    expect([pair([0, 0], 40, 48), pair([0, 48], 40, 48)], "too high").to.deep.equal([undefined, none]);
    expect(said([patch(10, 20, 3, 2), ...slices(0.6, 0.4)], [60, 40]), "a letter first").to.equal(undefined);
  });

  it("is no bar chart, except that a disc of one value may look like one", () => {
    expect(said(bars(20, 50, 36, 80), [10, 25, 18, 40])).to.equal("shows bars, not a disc");
    expect(said(bars(50, 50), [1])).to.equal(none);
  });
});
