import { expect } from "chai";
import {
  type ChartMarks,
  type Patch,
  readChartMarks,
  type Trace,
} from "tallystick-capabilities/checks/chartMarks";
import type { Picture } from "tallystick-capabilities/checks/decodePicture";
import { seededRandom } from "tallystick-runtime/seededRandom";

const COLOURS: { [sign: string]: number } = {
  ".": 0xffffff,
  ",": 0xf0f0f0,
  "#": 0x3366cc,
  r: 0xff0000,
  g: 0x00aa00,
  k: 0x000000,
};

/** A picture whose pixels are signs. */
const drawn = (...rows: string[]): Picture => ({
  width: rows[0]?.length ?? 0,
  height: rows.length,
  rgbAt: (x, y) => COLOURS[rows[y]?.[x] as string] as number,
});
const painted = (width: number, height: number, rgbAt: Picture["rgbAt"]): Picture => ({
  width,
  height,
  rgbAt,
});
const patch = (left: number, top: number, right: number, bottom: number): Patch => ({
  ...{ left, top, right, bottom, area: (right - left + 1) * (bottom - top + 1) },
});

const TWO_BARS = drawn(
  "............",
  "............",
  "..####......",
  "..####......",
  "..####.rrrr.",
  "..####.rrrr.",
  "..####.rrrr.",
  "..####.rrrr.",
  "............",
);

describe("the marks of a chart", () => {
  it("are the insides of its bars, and the highest and the middle sample of each colour", () => {
    const marks = readChartMarks(TWO_BARS);
    expect([marks.width, marks.height]).to.deep.equal([12, 9]);
    expect(marks.patches).to.deep.equal([patch(3, 3, 4, 6), patch(8, 5, 9, 6)]);
    const column = (values: [from: number, to: number, value: number], width: number) =>
      Array.from({ length: width }, (_, x) => (x >= values[0] && x <= values[1] ? values[2] : -1));
    expect(marks.traces).to.deep.equal([
      { tops: column([2, 5, 2], 12), middles: column([2, 5, 4.5], 12) },
      { tops: column([7, 10, 4], 12), middles: column([7, 10, 5.5], 12) },
    ]);
    expect(marks.lyingTraces()).to.deep.equal([
      { tops: column([2, 7, 6], 9), middles: column([2, 7, 7.5], 9) },
      { tops: column([4, 7, 1], 9), middles: column([4, 7, 2.5], 9) },
    ]);
    expect([
      marks.isPatch(3, 3),
      marks.isPatch(2, 2),
      marks.isPatch(8, 5),
      marks.isPatch(0, 0),
    ]).to.deep.equal([...[true, false, true, false]]);
    expect([marks.isInk(2, 2), marks.isInk(7, 4), marks.isInk(6, 4), marks.isInk(0, 0)]).to.deep.equal([
      ...[true, true, false, false],
    ]);
    expect(marks).not.to.have.property("onMargin");
  });

  it("are on the ground of the margin if bars cover more than the ground", () => {
    const marks = readChartMarks(
      painted(50, 30, (x, y) => (x < 2 || y < 2 || x > 47 || y > 27 ? 0xffffff : 0x3366cc)),
    );
    // On the other ground, only the corners of the margin are no lines.
    const corner = (x: number, y: number) => patch(x, y, x, y);
    expect(marks.patches).to.deep.equal([corner(1, 1), corner(48, 1), corner(1, 28), corner(48, 28)]);
    expect([marks.isInk(5, 5), marks.isInk(0, 0)]).to.deep.equal([false, true]);
    expect(marks.onMargin?.patches).to.deep.equal([patch(3, 3, 46, 26)]);
    expect([marks.onMargin?.isInk(5, 5), marks.onMargin?.isInk(0, 0)]).to.deep.equal([true, false]);
    expect(marks.onMargin?.traces).to.equal(marks.traces);
  });

  it("join neighbours that differ by at most 14 in each channel", () => {
    for (const shift of [16, 8, 0]) {
      const striped = (step: number) =>
        painted(12, 8, (x, y) =>
          x >= 2 && x <= 9 && y >= 2 && y <= 5 ? 0x202020 + (((x - 2) * step) << shift) : 0xffffff,
        );
      expect(readChartMarks(striped(14)).patches, `${shift}`).to.deep.equal([patch(3, 3, 8, 4)]);
      expect(readChartMarks(striped(15)).patches, `${shift}`).to.deep.equal([]);
    }
    const rising = (step: number) =>
      painted(8, 12, (x, y) =>
        x >= 2 && x <= 5 && y >= 2 && y <= 9 ? 0x202020 + (y - 2) * step * 0x010101 : 0xffffff,
      );
    expect(readChartMarks(rising(14)).patches).to.deep.equal([patch(3, 3, 4, 8)]);
    expect(readChartMarks(rising(15)).patches).to.deep.equal([]);
  });

  it("have at most twelve colours besides the ground", () => {
    const columns = painted(30, 10, (x) => (x < 14 ? ((x >> 2) << 21) | ((x & 3) << 13) | 0x20 : 0xffffff));
    expect(readChartMarks(columns).traces).to.have.lengthOf(12);
  });

  it("are read from at most 400,000 samples", () => {
    const odd = (width: number, height: number) =>
      readChartMarks(painted(width, height, (x, y) => (x % 2 === 0 && y % 2 === 0 ? 0xffffff : 0)));
    const [all, half] = [odd(1_000, 400), odd(1_001, 401)];
    expect([all.width, all.height, all.traces.length]).to.deep.equal([1_000, 400, 1]);
    expect([half.width, half.height, half.traces.length]).to.deep.equal([500, 200, 0]);
  });

  it("are those that a plain reading finds, in any picture", () => {
    const random = seededRandom(20_261_129);
    const whole = (below: number) => Math.floor(random() * below);
    const palette = [0xffffff, 0xf4f4f4, 0x3366cc, 0x3a6fcf, 0xff0000, 0x00aa00, 0x000000];
    for (let run = 0; run < 40; run++) {
      const [width, height] = [4 + whole(40), 4 + whole(30)];
      const ground = palette[whole(palette.length)] as number;
      const pixels = Array.from({ length: width * height }, () =>
        random() < 0.02 ? (palette[whole(7)] as number) : ground,
      );
      for (let box = whole(5); box > 0; box--) {
        const [left, top, colour] = [whole(width), whole(height), palette[whole(7)] as number];
        const [right, bottom] = [left + 2 + whole(width), top + 2 + whole(height)];
        for (let y = top; y < Math.min(bottom, height); y++)
          for (let x = left; x < Math.min(right, width); x++) pixels[y * width + x] = colour;
      }
      const picture = painted(width, height, (x, y) => pixels[y * width + x] as number);
      const [found, plain] = [readChartMarks(picture), plainMarks(picture)];
      const what = `run ${run}: ${width} × ${height}`;
      expect(shown(found, width, height), what).to.deep.equal(plain.on(plain.commonest));
      if (plain.margin === plain.commonest) expect(found, what).not.to.have.property("onMargin");
      else
        expect(shown(found.onMargin as ChartMarks, width, height), what).to.deep.equal(
          plain.on(plain.margin),
        );
    }
  });

  it("are on the ground of the commonest colour within a twenty-fifth of the edges", () => {
    const random = seededRandom(20_261_130);
    const whole = (below: number) => Math.floor(random() * below);
    for (let run = 0; run < 60; run++) {
      const [width, height] = [20 + whole(45), 20 + whole(45)];
      const pixels: number[] = Array.from({ length: width * height }, () =>
        random() < 0.5 ? 0xff0000 : 0xffffff,
      );
      for (let y = 5; y < height - 5; y++)
        for (let x = 5; x < width - 5; x++) pixels[y * width + x] = 0x3366cc;
      const picture = painted(width, height, (x, y) => pixels[y * width + x] as number);
      const [found, plain] = [readChartMarks(picture), plainMarks(picture)];
      const marks = plain.margin === plain.commonest ? found : (found.onMargin as ChartMarks);
      const isRed = plain.margin === "700";
      expect([marks.isInk(0, 0), found.onMargin === undefined], `${width} × ${height}`).to.deep.equal([
        ...[(pixels[0] === 0xff0000) !== isRed, plain.margin === plain.commonest],
      ]);
    }
  });
});

/** Marks as plain values. */
function shown(marks: ChartMarks, width: number, height: number) {
  const all = (has: (x: number, y: number) => boolean) => cellsOf(width, height).map(([x, y]) => has(x, y));
  return {
    ...{ patches: marks.patches, traces: marks.traces, lying: marks.lyingTraces() },
    ...{ isPatch: all(marks.isPatch), isInk: all(marks.isInk) },
  };
}

function cellsOf(width: number, height: number): [x: number, y: number][] {
  return Array.from({ length: width * height }, (_, at) => [at % width, Math.floor(at / width)]);
}

/** The same marks, read in a slow and plain way: with lists of cells, and labels that spread until nothing changes. */
function plainMarks({ width, height, rgbAt }: Picture) {
  const cells = cellsOf(width, height);
  const channels = (x: number, y: number) => [rgbAt(x, y) >> 16, (rgbAt(x, y) >> 8) & 255, rgbAt(x, y) & 255];
  const rough = (x: number, y: number): string =>
    channels(x, y)
      .map((one) => Math.floor(one / 32))
      .join("");
  const ranked = (some: [number, number][]): string[] => {
    const groups = Object.groupBy(some, ([x, y]) => rough(x, y));
    return Object.entries(groups)
      .sort(([a, one = []], [b, other = []]) => other.length - one.length || (a < b ? -1 : 1))
      .map(([colour]) => colour);
  };
  const colours = ranked(cells);
  const [wide, high] = [Math.ceil(width / 25), Math.ceil(height / 25)];
  const isMargin = (x: number, y: number) =>
    Math.min(x, width - 1 - x) < wide || Math.min(y, height - 1 - y) < high;
  const mean = (list: number[]) =>
    list.length === 0 ? -1 : list.reduce((sum, one) => sum + one, 0) / list.length;
  const traceOf = (lines: [number, number][][], colour: string): Trace => {
    const places = lines.map((line) =>
      [...line.keys()].filter((at) => rough(...(line[at] as [number, number])) === colour),
    );
    return { tops: places.map((line) => line[0] ?? -1), middles: places.map(mean) };
  };
  const columns = Array.from({ length: width }, (_, x) => cells.filter((cell) => cell[0] === x));
  const rows = Array.from({ length: height }, (_, y) => cells.filter((cell) => cell[1] === y).reverse());
  const used = colours.slice(1, 13);
  const isSoft = (a: [number, number], b: [number, number]) =>
    channels(...a).every((one, at) => Math.abs(one - (channels(...b)[at] as number)) <= 14);
  const around = ([x, y]: [number, number]): [number, number][] => [
    [x - 1, y],
    [x + 1, y],
    [x, y - 1],
    [x, y + 1],
  ];
  const on = (ground: string) => {
    const isSolid = ([x, y]: [number, number]) =>
      x > 0 &&
      y > 0 &&
      x < width - 1 &&
      y < height - 1 &&
      rough(x, y) !== ground &&
      around([x, y]).every((next) => isSoft([x, y], next));
    const labels = cells.map((cell, at) => (isSolid(cell) ? at : -1));
    for (let changed = true; changed; ) {
      changed = false;
      for (const [at, cell] of cells.entries()) {
        if (labels[at] === -1) continue;
        const near = around(cell)
          .map(([x, y]) => labels[y * width + x] as number)
          .filter((one) => one >= 0);
        const least = Math.min(labels[at] as number, ...near);
        if (least !== labels[at]) [labels[at], changed] = [least, true];
      }
    }
    const patches = [...new Set(labels.filter((one) => one >= 0))].map((label): Patch => {
      const own = cells.filter((_, at) => labels[at] === label);
      const [xs, ys] = [own.map(([x]) => x), own.map(([, y]) => y)];
      return {
        ...{ left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) },
        area: own.length,
      };
    });
    return {
      patches,
      traces: used.map((colour) => traceOf(columns, colour)),
      lying: used.map((colour) => traceOf(rows, colour)),
      isPatch: labels.map((one) => one >= 0),
      isInk: cells.map(([x, y]) => rough(x, y) !== ground),
    };
  };
  return {
    on,
    commonest: colours[0] as string,
    margin: ranked(cells.filter(([x, y]) => isMargin(x, y)))[0] as string,
  };
}
