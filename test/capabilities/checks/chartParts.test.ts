import { expect } from "chai";
import { barBases, barsAt, barsFit } from "tallystick-capabilities/checks/barsFit";
import { areLabelled, type Bar, chartBars } from "tallystick-capabilities/checks/chartBars";
import type { ChartMarks, Trace } from "tallystick-capabilities/checks/chartMarks";
import { axisPlaces, type Name, namedOrders, valueOrders } from "tallystick-capabilities/checks/chartOrders";
import { correlation } from "tallystick-capabilities/checks/correlation";
import { showThinBars } from "tallystick-capabilities/checks/thinBars";

describe("the order of a chart's values", () => {
  it("may be that of numbers or days, if all names are such", () => {
    const day = (text: string) => Date.parse(text);
    for (const [names, places] of [
      [[], []],
      [
        [1, "2", "-3.5", "+4", "2026"],
        [1, 2, -3.5, 4, 2026],
      ],
      [
        ["2026-01", "2026-01-02"],
        [day("2026-01-01"), day("2026-01-02")],
      ],
      [
        ["2026-01-02T10:00Z", "2026-01-02T10:00:00.5Z"],
        [day("2026-01-02T10:00Z"), day("2026-01-02T10:00Z") + 500],
      ],
      [["a"], undefined],
      [[1, "a"], undefined],
      [["1e5"], undefined],
      [["x1"], undefined],
      [["1x"], undefined],
      [["1."], undefined],
      [[""], undefined],
      [["1234567890123456"], undefined],
      [["123456789012345.000000000000000"], [123456789012345]],
      [["2026-1-1"], undefined],
      [["x2026-01"], undefined],
      [["2026-01x"], undefined],
      [["2026-13"], undefined],
      [[Number.NaN], undefined],
      [
        [1e-7, 1 / 3, 1e21],
        [1e-7, 1 / 3, 1e21],
      ],
      [["May 2026-01"], undefined],
      [["2026-01 UTC"], undefined],
    ] as [Name[], number[] | undefined][])
      expect(axisPlaces(names), JSON.stringify(names)).to.deep.equal(places);
  });

  it("is the given one, that of the places or that of the texts; equal ones keep their order", () => {
    for (const [names, orders] of [
      [
        [3, 1, 2],
        [
          [0, 1, 2],
          [1, 2, 0],
        ],
      ],
      [
        ["b", "a", "c"],
        [
          [0, 1, 2],
          [1, 0, 2],
        ],
      ],
      [
        ["10", "9"],
        [
          [0, 1],
          [1, 0],
          [0, 1],
        ],
      ],
      [
        [2, "1"],
        [
          [0, 1],
          [1, 0],
          [1, 0],
        ],
      ],
      [
        ["a", "a", "A"],
        [
          [0, 1, 2],
          [2, 0, 1],
        ],
      ],
      [
        [1, 1],
        [
          [0, 1],
          [0, 1],
        ],
      ],
    ] as [Name[], number[][]][])
      expect(namedOrders(names), JSON.stringify(names)).to.deep.equal(orders);
  });

  it("is that of the texts also for many names", () => {
    const many = Array.from({ length: 100 }, (_, at) => `name ${(at * 37) % 100}`);
    const byText = [...many].sort();
    expect(
      namedOrders(many)
        .at(-1)
        ?.map((at) => many[at]),
    ).to.deep.equal(byText);
    const local = axisPlaces(["2026-01-02T10:00", "2026-01-03T10:00"]) as number[];
    expect((local[1] as number) - (local[0] as number)).to.equal(86_400_000);
  });

  it("may be that of the values if the names are only words", () => {
    const words = ["a", "b", "c"];
    expect(valueOrders(words, [3, 1, 2])).to.deep.equal([
      [1, 2, 0],
      [0, 2, 1],
    ]);
    expect(valueOrders(words, [1, 1, 0])).to.deep.equal([
      [2, 0, 1],
      [1, 0, 2],
    ]);
    expect(valueOrders([1, 2, 3], [3, 1, 2])).to.deep.equal([]);
  });
});

describe("the correlation of two lists", () => {
  it("is Pearson's, and 0 if one of them is constant", () => {
    const cases: [a: number[], b: number[], r: number][] = [
      [[1, 2, 3], [2, 4, 6], 1],
      [[1, 2, 3], [3, 2, 1], -1],
      [[1, 2, 3, 4], [1, 3, 2, 4], 0.8],
      [[0, 0, 3], [5, 8, 5], -0.5],
      [[1, 1], [1, 2], 0],
      [[1, 2], [5, 5], 0],
    ];
    for (const [a, b, r] of cases) expect(correlation(a, b)).to.be.closeTo(r, 1e-12);
  });
});

describe("bars at their line", () => {
  const bar = (low: number, high: number): Bar => ({ from: 0, to: 1, low, high });
  it("stand on the line at which most of them begin, or hang from the one at which most end", () => {
    expect(barBases([bar(0, 5), bar(0, 9), bar(0, 7)])).to.deep.equal([0]);
    expect(barBases([bar(3, 10), bar(1, 10), bar(5, 10)])).to.deep.equal([10]);
    expect(barBases([bar(10, 20), bar(10, 15), bar(4, 10)])).to.deep.equal([10]);
    expect(barBases([bar(2, 10), bar(10, 12), bar(5, 10)])).to.deep.equal([10]);
    expect(barBases([bar(0, 5)])).to.deep.equal([0, 5]);
    expect(barBases([])).to.deep.equal([]);
  });

  it("begin at most 4 samples, or 0.15 of the longest, from the line", () => {
    const short = [bar(0, 20), bar(4, 15), bar(-15, -4), bar(5, 15)];
    expect(barsAt(short, 0)).to.deep.equal(short.slice(0, 3));
    const long = [bar(0, 100), bar(15, 60), bar(-60, -15), bar(16, 60), bar(-60, -16)];
    expect(barsAt(long, 0)).to.deep.equal(long.slice(0, 3));
    expect(barsAt([], 0)).to.deep.equal([]);
    const raised = [bar(100, 200), bar(115, 160), bar(116, 160)];
    expect(barsAt(raised, 100)).to.deep.equal(raised.slice(0, 2));
  });

  it("show values by their tips, up or down, and on a mirrored axis for values that are not negative", () => {
    const up = (...lengths: number[]) => lengths.map((length) => bar(0, length));
    expect(barsFit(up(10, 20, 40), 0, [1, 2, 4])).to.equal(true);
    expect(barsFit(up(10, 30, 20), 0, [1, 2, 4])).to.equal(false);
    expect(barsFit([bar(0, 10), bar(-20, 0), bar(0, 40)], 0, [1, -2, 4])).to.equal(true);
    expect(barsFit([bar(0, 10), bar(-20, 0), bar(0, 40)], 0, [1, 2, 4])).to.equal(false);
    const hanging = [bar(-10, 0), bar(-20, 0), bar(-40, 0)];
    expect(barsFit(hanging, 0, [1, 2, 4])).to.equal(true);
    expect(barsFit(hanging, 0, [1, 2, -4])).to.equal(false);
    expect(barsFit(hanging, 0, [-1, -2, -4])).to.equal(true);
    expect(barsFit([], 0, [1])).to.equal(false);
    expect(barsFit(up(30, 10, 20, 40), 0, [1, 2, 4]), "a symbol first").to.equal(true);
    expect(barsFit(up(10, 20, 40, 5), 0, [1, 2, 4]), "a symbol last").to.equal(true);
    expect(barsFit(up(10, 30, 20, 40), 0, [1, 2, 4])).to.equal(false);
    expect(barsFit(up(10, 20, 40, 5, 5), 0, [1, 2, 4])).to.equal(false);
    expect(barsFit(up(20, 40), 0, [0.1, 2, 4]), "a tiny value").to.equal(true);
    expect(barsFit(up(20, 40), 0, [2, 2, 4])).to.equal(false);
    const raised = [bar(90, 100), bar(80, 100), bar(60, 100)];
    expect(barsFit(raised, 100, [-1, -2, -4]), "hanging from another line").to.equal(true);
    expect(barsFit([bar(-10, 0), bar(0, 20), bar(-40, 0)], 0, [1, -2, 4]), "mirrored signs").to.equal(false);
  });

  it("may lack the flattest values, wherever they stand in the list", () => {
    const up = (...lengths: number[]) => lengths.map((length) => bar(0, length));
    expect(barsFit(up(40, 20), 0, [40, 2, 20])).to.equal(true);
    expect(barsFit(up(40, 20), 0, [2, 40, 3, 20])).to.equal(true);
    expect(barsFit([bar(-30, 0), bar(0, 40)], 0, [2, -30, 40]), "by size").to.equal(true);
    expect(barsFit(up(30, 40), 0, [-50, -20, -10]), "at the foot of a cut axis").to.equal(true);
    expect(barsFit([bar(-20, 0), bar(-40, 0)], 0, [0, 2, 4]), "mirrored").to.equal(true);
    expect(barsFit(up(50, 100), 0, [0, 62, 112]), "below the foot of a cut axis").to.equal(true);
    expect([-8, -9, -10].map((tiny) => barsFit(up(50, 100), 0, [tiny, 50, 100]))).to.deep.equal([
      ...[true, false, false],
    ]);
  });

  it("begin at zero, or not too far below the values", () => {
    const from = (base: number, values: number[]) =>
      values.map((value) => (value >= base ? bar(0, value - base) : bar(value - base, 0)));
    const fits = (base: number, values: number[]) => barsFit(from(base, values), 0, values);
    const positive = [10, 25, 18, 40];
    expect([fits(0, positive), fits(-6, positive), fits(-8, positive)]).to.deep.equal([true, true, false]);
    const both = [-10, 25, 5];
    expect([fits(-34, both), fits(-37, both)]).to.deep.equal([true, false]);
    const negative = [-10, -25, -40];
    expect([fits(6, negative), fits(13, negative), fits(20, negative)]).to.deep.equal([true, true, false]);
    const fromZero = [50, 100, 150].map((length) => bar(0, length));
    expect(barsFit(fromZero, 0, [0, 50, 100]), "half of the largest value below zero").to.equal(false);
    const alike = [1000, 1005, 1010, 1002];
    const bars = [100, 100, 101, 101].map((length) => bar(0, length));
    expect(barsFit(bars, 0, alike), "too alike for their order to be seen").to.equal(true);
  });
});

describe("bars that are found among the patches", () => {
  const marks = (changes: Partial<ChartMarks>): ChartMarks => ({
    ...{ width: 100, height: 100, patches: [], traces: [], lyingTraces: () => [] },
    ...{ isPatch: () => false, isInk: () => false },
    ...changes,
  });
  const patch = (left: number, top: number, wide: number, high: number) => ({
    ...{ left, top, right: left + wide - 1, bottom: top + high - 1, area: wide * high },
  });

  it("have places across the chart, and ends in the direction of the values", () => {
    const patches = [patch(40, 50, 10, 30), patch(10, 20, 10, 60)];
    expect(chartBars(marks({ patches }), false)).to.deep.equal([
      { from: 10, to: 19, low: 20, high: 80 },
      { from: 40, to: 49, low: 20, high: 50 },
    ]);
    const lying = [patch(5, 40, 30, 10), patch(5, 10, 60, 10)];
    expect(chartBars(marks({ patches: lying }), true)).to.deep.equal([
      { from: 10, to: 19, low: 5, high: 65 },
      { from: 40, to: 49, low: 5, high: 35 },
    ]);
  });

  it("are joined from pieces with the same sides, give or take one sample, and have the usual width", () => {
    const found = (...patches: ReturnType<typeof patch>[]) => chartBars(marks({ patches }), false).length;
    const first = patch(10, 10, 10, 20);
    for (const same of [
      patch(10, 50, 10, 20),
      patch(11, 50, 9, 20),
      patch(10, 50, 11, 20),
      patch(9, 50, 11, 20),
    ])
      expect(found(first, same), JSON.stringify(same)).to.equal(1);
    for (const other of [patch(10, 50, 12, 20), patch(12, 50, 8, 20)])
      expect(found(first, other), JSON.stringify(other)).to.equal(2);
    expect(found(first, patch(30, 10, 30, 20), patch(70, 10, 10, 20))).to.equal(2);
  });

  it("are no bands, which depends on the direction of the bars", () => {
    const found = (wide: number, high: number, isLying: boolean) =>
      chartBars(marks({ patches: [patch(0, 0, wide, high)] }), isLying).length;
    expect([found(75, 97, false), found(76, 97, false), found(75, 98, false)]).to.deep.equal([1, 0, 0]);
    expect([found(97, 75, true), found(98, 75, true), found(97, 76, true)]).to.deep.equal([1, 0, 0]);
    expect([found(3, 4, false), found(11, 1, false)], "at least twelve samples").to.deep.equal([1, 0]);
  });

  it("are labelled if at least six samples of ink are beyond or in each of them", () => {
    const bars = [10, 40, 70].map((from): Bar => ({ from, to: from + 9, low: 40, high: 80 }));
    const said = (ink: number, changes: Partial<ChartMarks> = {}, isLying = false) => {
      const isInk = (x: number, y: number) => {
        const [place, level] = isLying ? [y, x] : [x, 99 - y];
        const column = (place - 10) % 30;
        return level === 30 && column >= 0 && column < ink;
      };
      return areLabelled(marks({ isInk, isPatch: () => true, ...changes }), bars, 40, isLying);
    };
    expect([said(6), said(5), said(6, {}, true), said(5, {}, true)]).to.deep.equal([
      true,
      false,
      true,
      false,
    ]);
    // A label is at most 4 samples from the line, and at most three tenths of the picture beyond it.
    const inkAt = (wanted: number, base: number, all = bars) =>
      areLabelled(
        marks({ isInk: (x, y) => 99 - y === wanted && x % 30 >= 10 && x % 30 < 20, isPatch: () => true }),
        all,
        base,
        false,
      );
    expect([5, 6, 35, 36].map((level) => inkAt(level, 40))).to.deep.equal([false, true, true, false]);
    const hanging = bars.map((one) => ({ ...one, low: 20, high: 60 }));
    expect([63, 64, 93, 94].map((level) => inkAt(level, 60, hanging))).to.deep.equal([
      ...[false, true, true, false],
    ]);
    // A label may reach half of the way to the next bar. Each bar has six columns of ink, and the first has one less.
    const between = (first: number, without: number) => {
      const isInk = (x: number, y: number) => 99 - y === 30 && (x - first + 90) % 30 < 6 && x !== without;
      return areLabelled(marks({ isInk, isPatch: () => true }), bars, 40, false);
    };
    expect([between(24, -1), between(25, 0), between(0, -1), between(29, 29)]).to.deep.equal([
      ...[true, false, true, false],
    ]);
    const twoOfThree = (x: number, y: number) => 99 - y === 30 && x < 60;
    expect(areLabelled(marks({ isInk: twoOfThree, isPatch: () => true }), bars, 40, false)).to.equal(false);
    const hole = (count: number) => {
      const isPatch = (x: number, y: number) => !((x - 12) % 30 < count && 99 - y === 60);
      return said(0, { isPatch });
    };
    expect([hole(6), hole(5)], "a label in the bar").to.deep.equal([true, false]);
    // The two samples at each edge of a bar are its soft edge.
    const holes = (columns: number[], levels: number[]) =>
      said(0, {
        isPatch: (x, y) => !(columns.includes((x - 10) % 30) && levels.includes(99 - y)),
      });
    const [inner, three] = [
      [2, 3, 4, 5, 6, 7],
      [50, 51, 52],
    ];
    expect(
      [
        [0, 1],
        [2, 3],
        [6, 7],
        [8, 9],
      ].map((columns) => holes(columns, three)),
    ).to.deep.equal([...[false, true, true, false]]);
    expect([41, 42, 77, 78].map((level) => holes(inner, [level]))).to.deep.equal([false, true, true, false]);
  });
});

describe("bars that are too thin to be measured", () => {
  /** One column for each value, which stands on the line at 100 or hangs from it. */
  const traceOf = (values: number[]): Trace => ({
    tops: values.map((value) => (value === 0 ? -1 : value > 0 ? 100 - 90 * value : 100)),
    middles: values.map((value) => (value === 0 ? -1 : 100 - 45 * value)),
  });
  const values = [0.2, 1, 0.4, 0.9, 0.1, 0.6, 0.3, 0.8, 0.5, 0.7];
  const turned = [...values.slice(5), ...values.slice(0, 5)];

  it("have the shape of the values, in one of the orders, by one of the colours", () => {
    const [trace, other] = [traceOf(values), traceOf(turned)];
    expect(showThinBars([trace], [values])).to.equal(true);
    expect(showThinBars([trace], [turned])).to.equal(false);
    expect(showThinBars([trace], [turned, values])).to.equal(true);
    expect(showThinBars([other, trace], [values])).to.equal(true);
    expect(showThinBars([], [values])).to.equal(false);
    const signed = values.map((value, at) => (at % 3 === 0 ? -value : value));
    expect(showThinBars([traceOf(signed)], [signed])).to.equal(true);
    expect(showThinBars([traceOf(values)], [signed])).to.equal(false);
  });

  it("stand on a line, nine tenths of them, unlike a curve", () => {
    const off = (count: number): Trace => {
      const { tops, middles } = traceOf(values);
      const curved = middles.map((middle, at) => (at < count ? (tops[at] as number) + 1 : middle));
      return { tops, middles: curved };
    };
    expect([off(1), off(2)].map((trace) => showThinBars([trace], [values]))).to.deep.equal([true, false]);
  });

  /** Columns from these tops to these feet, counted from the top. */
  const columns = (...all: [top: number, foot: number][]): Trace => ({
    tops: all.map(([top]) => top),
    middles: all.map(([top, foot]) => (top + foot) / 2),
  });

  it("have feet that are at most two samples, or 0.03 of the longest, from the line", () => {
    const standing = (long: number, off: number) =>
      columns(...values.map((value, at): [number, number] => [100 - long * value, at > 7 ? 100 - off : 100]));
    for (const [long, off, stands] of [
      [50, 2, true],
      [50, 2.25, false],
      [100, 3, true],
      [100, 3.25, false],
      [50, -2, true],
      [50, -2.25, false],
    ] as const)
      expect(showThinBars([standing(long, off)], [values]), `${long} ${off}`).to.equal(stands);
    const hanging = values.map((value) => -value);
    expect(showThinBars([traceOf(hanging)], [hanging])).to.equal(true);
    const loose = (off: number) =>
      columns(...values.map((value, at): [number, number] => [at > 7 ? 100 + off : 100, 100 + 50 * value]));
    expect([2, 2.25, -2, -2.25].map((off) => showThinBars([loose(off)], [hanging]))).to.deep.equal([
      ...[true, false, true, false],
    ]);
  });

  it("float in at most a tenth of the columns, wherever these are", () => {
    const many = [...values, ...values].map((value, at) => ([8, 9, 10].includes(at) ? 0.1 : value));
    const floating = (places: number[]) =>
      columns(
        ...many.map((value, at): [number, number] => [
          ...([100 - 90 * value, places.includes(at) ? 94 - 90 * value + 4 : 100] as const),
        ]),
      );
    expect(showThinBars([floating([9, 10])], [many])).to.equal(true);
    expect(showThinBars([floating([8, 9, 10])], [many])).to.equal(false);
    const curve = columns(...values.map((value): [number, number] => [96 - 90 * value, 100 - 90 * value]));
    expect(showThinBars([curve], [values]), "a curve").to.equal(false);
  });

  it("may reach the edge of the picture, and begin anywhere", () => {
    const flat = values.map((_, at) => (at === 4 ? 1 : 0.1));
    const high = columns(...flat.map((value): [number, number] => [100 - 100 * value, 100]));
    expect(showThinBars([high], [flat])).to.equal(true);
    const none = { tops: [-1, -1], middles: [-1, -1] };
    expect(showThinBars([none], [values])).to.equal(false);
    const spread = values.flatMap((value) => [value, 0, 0, 0, 0]);
    expect(showThinBars([traceOf([...Array(20).fill(0), ...spread])], [values])).to.equal(true);
  });

  it("may lack the first and the last ones if these are shorter than a fiftieth", () => {
    const ends = [0.019, ...values, -0.019];
    expect(showThinBars([traceOf([0, ...values, 0])], [ends])).to.equal(true);
    expect(showThinBars([traceOf([0, 0, 0, ...values])], [[...Array(3).fill(0.02), ...values]])).to.equal(
      false,
    );
  });

  it("are in a fifth of the columns at least", () => {
    const sparse = (every: number): Trace => {
      const all = values.flatMap((value) => [value, ...Array(every - 1).fill(0)]);
      return traceOf(all);
    };
    expect([sparse(5), sparse(6)].map((trace) => showThinBars([trace], [values]))).to.deep.equal([
      true,
      false,
    ]);
  });
});
