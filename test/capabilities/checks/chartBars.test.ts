import { expect } from "chai";
import { readChartMarks } from "tallystick-capabilities/checks/chartMarks";
import type { Name } from "tallystick-capabilities/checks/chartOrders";
import { barComplaint } from "tallystick-capabilities/checks/chartShows";
import { seededRandom } from "tallystick-runtime/seededRandom";

type Look = {
  width?: number;
  height?: number;
  /** The values at both ends of the axis. */
  axis?: [number, number];
  isLying?: boolean;
  /** The share of its place that a bar fills. */
  thick?: number;
  ground?: number;
  paint?: number;
  grid?: "behind" | "over";
  outline?: boolean;
  frame?: boolean;
  /** Whether something is written at each bar. */
  labels?: boolean;
  /** Whether a bar fades away towards its foot. */
  fades?: boolean;
};

const WHITE = 0xffffff;
const INK = 0x333333;

/** The marks of a bar chart with soft edges, as the libraries draw them. */
function drawn(values: number[], look: Look = {}) {
  const { width = 240, height = 160, ground = WHITE, paint = 0x3366cc, isLying = false } = look;
  const [least, most] = look.axis ?? [Math.min(0, ...values), Math.max(0, ...values)];
  const pixels = new Uint32Array(width * height).fill(ground);
  const blend = (x: number, y: number, colour: number, share: number): void => {
    if (x < 0 || y < 0 || x >= width || y >= height || share <= 0) return;
    const under = pixels[y * width + x] as number;
    const part = (shift: number): number => {
      const [a, b] = [(under >> shift) & 255, (colour >> shift) & 255];
      return Math.round(a + (b - a) * Math.min(1, share)) << shift;
    };
    pixels[y * width + x] = part(16) | part(8) | part(0);
  };
  const fill = (box: number[], colour: number, shareAt = (_: number): number => 1): void => {
    const [left = 0, top = 0, right = 0, bottom = 0] = box;
    for (let y = Math.floor(top); y < bottom; y++) {
      for (let x = Math.floor(left); x < right; x++) {
        const wide = Math.min(x + 1, right) - Math.max(x, left);
        const high = Math.min(y + 1, bottom) - Math.max(y, top);
        blend(x, y, colour, wide * high * shareAt(y));
      }
    }
  };
  const plot = { left: 30, top: 12, right: width - 10, bottom: height - 22 };
  const [across, along] = isLying
    ? [plot.bottom - plot.top, plot.right - plot.left]
    : [plot.right - plot.left, plot.bottom - plot.top];
  const levelOf = (value: number): number =>
    ((Math.min(most, Math.max(least, value)) - least) / (most - least || 1)) * along;
  const box = (from: number, to: number, low: number, high: number): number[] =>
    isLying
      ? [plot.left + low, plot.top + from, plot.left + high, plot.top + to]
      : [plot.left + from, plot.bottom - high, plot.left + to, plot.bottom - low];
  const rules = (): void => {
    for (let line = 0; line <= 4; line++) {
      const level = Math.round((along * line) / 4);
      fill(box(0, across, level, level + 1), 0xdddddd);
    }
  };
  if (look.grid === "behind") rules();
  const slot = across / values.length;
  for (const [at, value] of values.entries()) {
    const [low, high] = [levelOf(0), levelOf(value)].sort((a, b) => a - b) as [number, number];
    const half = ((look.thick ?? 0.7) * slot) / 2;
    const [from, to] = [slot * (at + 0.5) - half, slot * (at + 0.5) + half];
    const bar = box(from, to, low, high);
    if (high > low) {
      fill(bar, look.outline ? INK : paint, (y) =>
        look.fades ? Math.min(1, (1.2 * ((bar[3] as number) - y)) / (high - low)) : 1,
      );
      if (look.outline && high - low > 2) fill(box(from + 1, to - 1, low + 1, high - 1), paint);
    }
    if (look.labels) {
      const middle = slot * (at + 0.5);
      for (let letter = -1; letter <= 1; letter++)
        fill(box(middle + 3 * letter - 1, middle + 3 * letter + 1, -12, -7), INK);
    }
  }
  if (look.grid === "over") rules();
  const zero = Math.round(levelOf(0));
  fill(box(-2, across, zero - 1, zero), INK);
  if (look.frame) {
    fill(box(-2, across, along, along + 1), INK);
    fill(box(-2, -1, 0, along), INK);
    fill(box(across, across + 1, 0, along), INK);
  }
  return readChartMarks({ width, height, rgbAt: (x, y) => pixels[y * width + x] as number });
}

const LOOKS: { [look: string]: Look } = {
  "written by hand": { thick: 0.5 },
  "as of d3": { thick: 0.9, labels: true },
  "as of matplotlib": { thick: 0.8, frame: true, labels: true, paint: 0x1f77b4, width: 320, height: 240 },
  "as of Vega": { thick: 0.9, grid: "behind", frame: true, labels: true, paint: 0x4c78a8 },
  "as of Chart.js": { outline: true, grid: "over", paint: 0x9ad0f5 },
  "on a dark ground": { ground: 0x101418, paint: 0x66c2a5 },
  "that fade away": { fades: true },
  large: { width: 1000, height: 800, grid: "over", labels: true },
  lying: { isLying: true, labels: true },
};

const SERIES: { [series: string]: { values: number[]; axis?: [number, number] } } = {
  plain: { values: [12, 30, 21, 44, 9, 37] },
  "nearly equal, on an axis from zero": { values: [1000, 1005, 1010, 1002] },
  "nearly equal, on a cut axis": { values: [1000, 1005, 1010, 1002], axis: [995, 1012] },
  "almost equal, on an axis that is cut very near": {
    values: [50.001, 50.003, 50.002, 50.004, 50.0015],
    axis: [50, 50.005],
  },
  "a little different": { values: [500, 520, 510, 535, 505] },
  equal: { values: [7, 7, 7, 7] },
  "of both signs": { values: [35, -12, 48, -30, 22, 9, -5, 41] },
  negative: { values: [-10, -25, -18, -40, -31] },
  "with zeros": { values: [0, 25, 18, 0, 40, 33] },
  "with one that is much larger": { values: [1000, 260, 3, 330, 41, 120] },
  "with only one that can be seen": { values: [3, 4, 1000, 2, 1] },
  "of fifteen values": { values: Array.from({ length: 15 }, (_, at) => 60 + 40 * Math.sin(at)) },
  "of two values": { values: [3, 5] },
  "of very large numbers": { values: [1.2e300, 2e300, 0.7e300] },
};

const rotated = (values: number[]): number[] => [...values.slice(2), ...values.slice(0, 2)];
const letters = (count: number): Name[] =>
  Array.from({ length: count }, (_, at) => String.fromCharCode(97 + at));

describe("the check of bars", () => {
  for (const [name, look] of Object.entries(LOOKS)) {
    it(`accepts honest charts, ${name}`, () => {
      for (const [series, { values, axis }] of Object.entries(SERIES)) {
        if (look.fades && Math.min(...values) < 0) continue;
        expect(barComplaint(drawn(values, { ...look, axis }), values), series).to.equal(undefined);
      }
    });
  }

  it("refuses the bars of other data, on every axis and in every direction", () => {
    const random = seededRandom(5);
    for (const isLying of [false, true]) {
      for (const [series, { values, axis }] of Object.entries(SERIES)) {
        const [least, most] = [Math.min(...values), Math.max(...values)];
        const spread = most - least;
        // Bars that look equal show equal and nearly equal values. There is no order to see in them.
        if (values.length < 4 || spread === 0 || (!axis && spread < 0.08 * most)) continue;
        const fakes: { [fake: string]: number[] } = {
          turned: rotated(values),
          reversed: isLying ? rotated(values) : [...values].reverse(),
          // Equal bars show nearly equal values, from zero.
          equal: axis ? rotated(values) : values.map(() => least + 0.6 * spread),
          noise: values.map(() => least + spread * random()),
          complements: values.map((value) => least + most - value),
        };
        for (const [fake, wrong] of Object.entries(fakes)) {
          // All but one of these values have no bar in any order, so most orders look alike.
          if (
            series === "with only one that can be seen" &&
            !["equal", "noise", "complements"].includes(fake)
          )
            continue;
          const marks = drawn(wrong, { isLying, axis: axis ?? [Math.min(0, least), Math.max(0, most)] });
          expect(barComplaint(marks, values), `${series}: ${fake}`).not.to.equal(undefined);
        }
      }
    }
  });

  it("refuses one bar of a wrong length among right ones", () => {
    for (const series of [
      "plain",
      "nearly equal, on a cut axis",
      "of both signs",
      "of fifteen values",
      "negative",
    ]) {
      const { values, axis } = SERIES[series] as (typeof SERIES)[string];
      const [least, most] = axis ?? [Math.min(0, ...values), Math.max(0, ...values)];
      for (const at of values.keys()) {
        const value = values[at] as number;
        const off = (value > (least + most) / 2 ? -0.3 : 0.3) * (most - least);
        const wrong = values.map((right, place) => (place === at ? right + off : right));
        expect(barComplaint(drawn(wrong, { axis: [least, most] }), values), `${series}: ${at}`).not.to.equal(
          undefined,
        );
      }
    }
  });

  it("refuses negative values that are drawn as positive ones", () => {
    for (const values of [
      [35, -12, 48, -30, 22],
      [-10, -25, -18, -40],
    ])
      expect(barComplaint(drawn(values.map(Math.abs)), values)).not.to.equal(undefined);
  });

  it("refuses any small bars beside one large bar", () => {
    const values = [1000, 50, 60, 70, 40];
    expect(barComplaint(drawn([1000, 400, 800, 300, 600]), values)).not.to.equal(undefined);
    expect(barComplaint(drawn([1000, 1000]), values)).not.to.equal(undefined);
  });

  it("refuses bars that are too short to differ by more than their edges", () => {
    const values = [12, 30, 21, 44, 9, 37];
    for (const height of [3, 4, 6])
      expect(barComplaint(drawn(Array(6).fill(height), { axis: [0, 126] }), values)).not.to.equal(undefined);
    const turned = drawn([...values].reverse(), { axis: [0, 900] });
    expect(barComplaint(turned, values)).not.to.equal(undefined);
  });

  it("refuses two bars that are more alike than their values", () => {
    expect(barComplaint(drawn([35, 40]), [10, 40])).not.to.equal(undefined);
    expect(barComplaint(drawn([10, 40]), [35, 40]), "a cut axis").to.equal(undefined);
  });

  it("accepts the order of the names, which are numbers, days or words", () => {
    const values = [12, 30, 21, 44, 9, 37];
    const falling = [...values].reverse();
    for (const names of [
      [2026, 2025, 2024, 2023, 2022, 2021],
      ["10", "9", "8", "7", "6", "5"],
      ["2026-06-01", "2026-05-01", "2026-04-01", "2026-03-01", "2026-02-01", "2026-01-01"],
      ["f", "e", "d", "c", "b", "a"],
    ])
      expect(barComplaint(drawn(falling), values, names), String(names)).to.equal(undefined);
    for (const names of [[1, 2, 3, 4, 5, 6], letters(6)])
      expect(barComplaint(drawn(falling), values, names), String(names)).not.to.equal(undefined);
  });

  it("accepts the order of the values only for categories, and only with labels", () => {
    const values = [12, 30, 21, 44, 9, 37];
    const rising = [...values].sort((a, b) => a - b);
    for (const isLying of [false, true]) {
      for (const sorted of [rising, [...rising].reverse()]) {
        expect(barComplaint(drawn(sorted, { isLying, labels: true }), values, letters(6))).to.equal(
          undefined,
        );
        expect(barComplaint(drawn(sorted, { isLying }), values, letters(6)), "bare").not.to.equal(undefined);
        for (const names of [
          [1, 2, 3, 4, 5, 6],
          ["2021", "2022", "2023", "2024", "2025", "2026"],
        ])
          expect(barComplaint(drawn(sorted, { isLying, labels: true }), values, names)).not.to.equal(
            undefined,
          );
      }
      expect(
        barComplaint(drawn([9, 12, 21, 30, 44, 37], { isLying, labels: true }), values, letters(6)),
      ).not.to.equal(undefined);
    }
  });

  it("accepts horizontal bars that begin at the bottom", () => {
    const values = [12, 30, 21, 44, 9, 37];
    expect(barComplaint(drawn([...values].reverse(), { isLying: true }), values)).to.equal(undefined);
  });
});
