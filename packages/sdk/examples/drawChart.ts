import { encode } from "fast-png";

/** The params of `chart.generate.from-data`. */
export type ChartParams = {
  data: { x: string | number; y: number }[];
  chart_type: "bar" | "line" | "pie";
  width: number;
  height: number;
};

const GROUND = [255, 255, 255] as const;
const AXIS = [60, 60, 60] as const;
const SERIES = [
  [31, 119, 180],
  [255, 127, 14],
  [44, 160, 44],
  [214, 39, 40],
  [148, 103, 189],
] as const;

type Colour = readonly [number, number, number];

/** Draws a chart as PNG, in base 64. */
export function drawChart({ data, chart_type, width, height }: ChartParams): string {
  const pixels = new Uint8Array(width * height * 3);
  const plot = (x: number, y: number, colour: Colour): void => {
    const [column, row] = [Math.round(x), Math.round(y)];
    if (column >= 0 && row >= 0 && column < width && row < height) {
      pixels.set(colour, (row * width + column) * 3);
    }
  };
  for (let y = 0; y < height; y++) for (let x = 0; x < width; x++) plot(x, y, GROUND);
  if (chart_type === "pie") drawPie(data, width, height, plot);
  else drawSeries(data, chart_type, width, height, plot);
  return Buffer.from(encode({ width, height, data: pixels, channels: 3, depth: 8 })).toString("base64");
}

type Plot = (x: number, y: number, colour: Colour) => void;

function drawSeries(
  data: ChartParams["data"],
  type: "bar" | "line",
  width: number,
  height: number,
  plot: Plot,
): void {
  const margin = Math.round(Math.min(width, height) * 0.1);
  const values = data.map(({ y }) => y);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const rowOf = (value: number): number =>
    height - margin - ((value - low) / (high - low || 1)) * (height - 2 * margin);
  const step = (width - 2 * margin) / data.length;
  if (type === "bar") {
    for (const [at, value] of values.entries()) {
      const [from, to] = [rowOf(0), rowOf(value)].sort((a, b) => a - b) as [number, number];
      const left = margin + step * (at + 0.15);
      for (let x = left; x < left + step * 0.7; x++) for (let y = from; y <= to; y++) plot(x, y, SERIES[0]);
    }
  } else {
    for (let x = 0; x <= width - 2 * margin; x += 0.2) {
      const position = (x / (width - 2 * margin)) * (data.length - 1);
      const [before, after] = [values[Math.floor(position)] ?? 0, values[Math.ceil(position)] ?? 0];
      const y = rowOf(before + (after - before) * (position % 1));
      for (const offset of [-1, 0, 1]) plot(margin + x, y + offset, SERIES[0]);
    }
  }
  for (let x = margin; x <= width - margin; x++) plot(x, rowOf(0), AXIS);
  for (let y = margin; y <= height - margin; y++) plot(margin, y, AXIS);
}

function drawPie(data: ChartParams["data"], width: number, height: number, plot: Plot): void {
  const radius = Math.min(width, height) * 0.45;
  const total = data.reduce((sum, { y }) => sum + y, 0) || 1;
  for (let y = -radius; y <= radius; y++) {
    for (let x = -radius; x <= radius; x++) {
      if (x * x + y * y > radius * radius) continue;
      let turn = (Math.atan2(y, x) / (2 * Math.PI) + 1) % 1;
      const slice = data.findIndex((item) => {
        turn -= item.y / total;
        return turn < 0;
      });
      plot(width / 2 + x, height / 2 + y, SERIES[Math.max(0, slice) % SERIES.length] as Colour);
    }
  }
}
