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
  });

  it("is no bar chart and no disc", () => {
    const wide = "shows bars, not a line";
    expect(said(trace(values), nothing, values, bars(20, 50, 36, 80, 60))).to.equal(wide);
    expect(said(trace(values), nothing, values, bars(20, 50, 36))).to.equal(wide);
    expect(said(trace(values), nothing, values, bars(20, 50))).to.equal(undefined);
    const thin = [20, 50, 36, 80, 60].map((length, at) => patch(5 + 30 * at, 90 - length, 12, length));
    expect(said(trace(values), nothing, values, thin)).to.equal(undefined);
    const disc = "shows a disc, not a line";
    for (const [filled, complaint] of [
      [0.58, undefined],
      [0.59, disc],
      [0.82, disc],
      [0.83, undefined],
    ] as const)
      expect(said(trace(values), nothing, values, [patch(70, 20, 60, 60, filled)])).to.equal(complaint);
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
  });

  it("is no bar chart, except that a disc of one value may look like one", () => {
    expect(said(bars(20, 50, 36, 80), [10, 25, 18, 40])).to.equal("shows bars, not a disc");
  });
});
