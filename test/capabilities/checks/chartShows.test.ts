import { expect } from "chai";
import { readChartMarks } from "tallystick-capabilities/checks/chartMarks";
import { barComplaint, lineComplaint, pieComplaint } from "tallystick-capabilities/checks/chartShows";
import { decodePicture } from "tallystick-capabilities/checks/decodePicture";
import {
  Canvas,
  type Colour,
  circle,
  hex,
  line,
  mix,
  rectangle,
  wedge,
} from "../../../tools/samples/canvas.ts";

const COMPLAINTS = { bar: barComplaint, line: lineComplaint, pie: pieComplaint };
const complaintOf = async (kind: keyof typeof COMPLAINTS, canvas: Canvas, values: number[]) =>
  COMPLAINTS[kind](readChartMarks(await decodePicture(Buffer.from(canvas.png()).toString("base64"))), values);

const [white, ink, blue, grey] = ["#ffffff", "#222222", "#3366cc", "#eaeaf2"].map(hex) as [
  Colour,
  Colour,
  Colour,
  Colour,
];
const values = [12, 30, 21, 44, 9, 37];
const most = Math.max(...values);

function bars(
  canvas: Canvas,
  colour: Colour | ((x: number, y: number) => Colour),
  { base = 0, width = 0.7 } = {},
): Canvas {
  const slot = 260 / values.length;
  for (const [at, value] of values.entries()) {
    const x = 30 + slot * at;
    canvas.paint(rectangle(x, 180 - (160 * (value - base)) / (most - base), x + slot * width, 180), colour);
  }
  return canvas.paint(line(28, 180, 292, 180, 1), ink).paint(line(28, 10, 28, 180, 1), ink);
}
const sheet = (ground: Colour = white): Canvas => new Canvas(300, 200, ground);

describe("the checks of charts accept a correct chart in many styles", () => {
  const slot = 165 / values.length;
  const lying = sheet();
  for (const [at, value] of values.entries()) {
    lying.paint(rectangle(40, 10 + slot * at, 40 + (240 * value) / most, 10 + slot * (at + 0.7)), blue);
  }
  const crossed = bars(sheet(), blue);
  for (let y = 40; y < 180; y += 30) crossed.paint(line(28, y, 292, y, 1), grey);
  const labelled = bars(sheet(), blue);
  for (const [at, value] of values.entries()) labelled.write(String(value), 38 + (260 / 6) * at, 170, white);
  const keyed = bars(sheet(), blue)
    .paint(rectangle(255, 4, 263, 12), blue)
    .write("SALES", 266, 5, ink);
  const outlined = sheet();
  for (const [at, value] of values.entries()) {
    const [x, top] = [30 + (260 / 6) * at, 180 - (160 * value) / most];
    outlined.paint(rectangle(x, top, x + 30, 180), ink).paint(rectangle(x + 1, top + 1, x + 29, 179), blue);
  }
  const panel = bars(sheet().paint(rectangle(28, 10, 292, 180), grey), blue);

  const looks: { [look: string]: Canvas } = {
    plain: bars(sheet(), blue),
    "on an axis that begins at five": bars(sheet(), blue, { base: 5 }),
    "on a dark background": bars(sheet(hex("#101418")), hex("#66c2a5")),
    "with a gradient": bars(sheet(), (_, y) => mix(hex("#99bbff"), blue, y / 180)),
    "each in another colour": bars(
      sheet(),
      (x) => ["#cc3333", "#33aa55", "#ddaa22"].map(hex)[Math.floor((x - 30) / 43.4) % 3] as Colour,
    ),
    "almost without gaps": bars(sheet(), blue, { width: 0.92 }),
    thin: bars(sheet(), blue, { width: 0.25 }),
    lying,
    "under a grid": crossed,
    "with numbers in them": labelled,
    "with a legend": keyed,
    outlined,
    "on a grey panel": panel,
  };
  for (const [look, canvas] of Object.entries(looks)) {
    it(`bars, ${look}`, async () => {
      expect(await complaintOf("bar", canvas, values)).to.equal(undefined);
      const others = [44, 9, 37, 12, 30, 21];
      expect(await complaintOf("bar", canvas, others), "other data").not.to.equal(undefined);
    });
  }

  const wave = Array.from({ length: 40 }, (_, at) => 50 + 30 * Math.sin(at / 4) + at);
  const trace = (
    canvas: Canvas,
    width: number,
    { dashed = false, area = false, markers = false } = {},
  ): Canvas => {
    const place = (at: number): [number, number] => [
      30 + (260 * at) / (wave.length - 1),
      190 - (wave[at] as number) * 1.3,
    ];
    for (let at = 0; at + 1 < wave.length; at++) {
      const [[x, y], [toX, toY]] = [place(at), place(at + 1)];
      if (area) {
        for (let column = Math.floor(x); column < toX; column++) {
          const height = y + ((toY - y) * (column - x)) / (toX - x);
          canvas.paint(rectangle(column, height, column + 1, 185), hex("#aaccee"));
        }
      }
      if (!dashed || at % 2 === 0) canvas.paint(line(x, y, toX, toY, width), blue);
      if (markers) canvas.paint(circle(x, y, 3), hex("#dc3912"));
    }
    return canvas.paint(line(28, 185, 292, 185, 1), ink);
  };
  const lines: { [look: string]: Canvas } = {
    plain: trace(sheet(), 2.5),
    thin: trace(sheet(), 1.2),
    "on a dark background": trace(sheet(hex("#101418")), 2),
    "with markers": trace(sheet(), 2, { markers: true }),
    dashed: trace(sheet(), 2, { dashed: true }),
    "over an area": trace(sheet(), 2, { area: true }),
  };
  for (const [look, canvas] of Object.entries(lines)) {
    it(`a line, ${look}`, async () => {
      expect(await complaintOf("line", canvas, wave)).to.equal(undefined);
      expect(await complaintOf("line", canvas, [...wave].reverse()), "other data").not.to.equal(undefined);
    });
  }

  const slices = [40, 25, 20, 15];
  const pie = ({ hole = 0, outline = false, ground = white } = {}): Canvas => {
    const canvas = sheet(ground);
    let from = 0;
    for (const [at, slice] of slices.entries()) {
      const to = from + slice / 100;
      const colour = ["#3366cc", "#dc3912", "#ff9900", "#109618"].map(hex)[at] as Colour;
      canvas.paint(wedge(120, 100, 85, from, to), colour);
      const angle = 2 * Math.PI * to;
      if (outline)
        canvas.paint(line(120, 100, 120 + 85 * Math.sin(angle), 100 - 85 * Math.cos(angle), 2), white);
      canvas.paint(rectangle(230, 20 + at * 14, 238, 28 + at * 14), colour);
      from = to;
    }
    return hole > 0 ? canvas.paint(circle(120, 100, hole), ground) : canvas;
  };
  const pies = {
    plain: pie(),
    "with a hole": pie({ hole: 40 }),
    outlined: pie({ outline: true }),
    "on a dark background": pie({ ground: hex("#101418") }),
  };
  for (const [look, canvas] of Object.entries(pies)) {
    it(`a pie, ${look}`, async () => {
      expect(await complaintOf("pie", canvas, slices)).to.equal(undefined);
      expect(await complaintOf("pie", canvas, [70, 10, 10, 10]), "other data").not.to.equal(undefined);
    });
  }
});

describe("the check of bars that are too thin to be measured one by one", () => {
  const many = Array.from({ length: 40 }, (_, at) => 5 + ((at * 37) % 41));
  const others = many.map((_, at) => 5 + ((at * 23 + 11) % 41));
  const signed = many.map((value, at) => (at % 3 === 0 ? -value : value));
  const [wide, high] = [160, 640];
  /** Standing bars in a high picture, or lying ones in a wide picture. */
  function thinBars(shown: number[], { isLying = false, isReversed = false, width = 0.75 } = {}): Canvas {
    const canvas = isLying ? new Canvas(high, wide, white) : new Canvas(wide, high, white);
    const zero = shown.some((value) => value < 0) ? 320 : 20;
    const unit = (high - 40) / (zero === 20 ? 46 : 92);
    const slot = (wide - 20) / shown.length;
    for (const [at, value] of shown.entries()) {
      const from = 10 + slot * (isReversed ? shown.length - 1 - at : at);
      const ends = [zero, zero + value * unit].sort((a, b) => a - b) as [number, number];
      if (isLying) canvas.paint(rectangle(ends[0], from, ends[1], from + slot * width), blue);
      else canvas.paint(rectangle(from, high - ends[1], from + slot * width, high - ends[0]), blue);
    }
    return isLying
      ? canvas.paint(line(zero, 5, zero, wide - 5, 1), ink)
      : canvas.paint(line(5, high - zero, wide - 5, high - zero, 1), ink);
  }

  const cases = { positive: many, "of both signs": signed, "only twenty": many.slice(20) };
  for (const [look, shown] of Object.entries(cases)) {
    for (const options of [{}, { isLying: true }, { isLying: true, isReversed: true }, { width: 1 }]) {
      it(`accepts such bars, ${look}, ${JSON.stringify(options)}, and refuses other data`, async () => {
        const canvas = thinBars(shown, options);
        expect(await complaintOf("bar", canvas, shown)).to.equal(undefined);
        expect(await complaintOf("bar", canvas, others.slice(0, shown.length)), "other data").not.to.equal(
          undefined,
        );
        const moved = shown.map((_, at) => shown[(at * 7) % shown.length] as number);
        expect(await complaintOf("bar", canvas, moved), "other places").not.to.equal(undefined);
      });
    }
  }

  it("accepts them if the first and the last value are zero", async () => {
    const zeros = [0, 0, ...many.slice(2, -1), 0];
    expect(await complaintOf("bar", thinBars(zeros), zeros)).to.equal(undefined);
  });

  it("refuses a line in their place", async () => {
    const slot = (wide - 20) / many.length;
    const canvas = new Canvas(wide, high, white);
    for (let at = 0; at + 1 < many.length; at++) {
      const [from, to] = [many[at] as number, many[at + 1] as number];
      canvas.paint(
        line(10 + slot * at, high - 20 - from * 13, 10 + slot * (at + 1), high - 20 - to * 13, 2),
        blue,
      );
    }
    expect(await complaintOf("bar", canvas, many)).not.to.equal(undefined);
  });
});
