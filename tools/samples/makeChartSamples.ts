import { Canvas, hex, mix } from "./canvas.ts";
import { type ChartRequest, drawChart } from "./charts.ts";
import { blank, cut, flipBit, noise, stopped } from "./damage.ts";

const revenue: ChartRequest = {
  title: "REVENUE 2026",
  chart_type: "bar",
  width: 240,
  height: 160,
  data: [
    { x: "JAN", y: 1200 },
    { x: "FEB", y: 1850 },
    { x: "MAR", y: 1640 },
    { x: "APR", y: 2210 },
    { x: "MAY", y: 2480 },
    { x: "JUN", y: 2300 },
  ],
};
const temperatures: ChartRequest = {
  title: "TEMPERATURE C",
  chart_type: "line",
  width: 260,
  height: 150,
  data: [-4, -1, 6, 12, 17, 22, 24, 23, 18, 11, 4, -2].map((y, at) => ({ x: at + 1, y })),
};
const shares: ChartRequest = {
  title: "MARKET SHARE",
  chart_type: "pie",
  width: 220,
  height: 160,
  data: [
    { x: "NORTH", y: 38 },
    { x: "SOUTH", y: 27 },
    { x: "EAST", y: 21 },
    { x: "WEST", y: 14 },
  ],
};
const dark: ChartRequest = {
  title: "REQUESTS PER HOUR",
  chart_type: "line",
  theme: "dark",
  width: 256,
  height: 144,
  data: [120, 90, 60, 75, 180, 420, 610, 580, 640, 700, 520, 310].map((y, at) => ({ x: 2 * at, y })),
};
const balance: ChartRequest = {
  title: "NET FLOW",
  chart_type: "bar",
  theme: "dark",
  width: 200,
  height: 120,
  data: [35, -12, 48, -30, 22, 9, -5, 41].map((y, at) => ({ x: `Q${at + 1}`, y })),
};
const two: ChartRequest = {
  chart_type: "bar",
  width: 128,
  height: 96,
  data: [
    { x: "A", y: 3 },
    { x: "B", y: 5 },
  ],
};

/** The charts of the sample pictures, by the name of their file. */
export const chartRequests = { revenue, temperatures, shares, dark, balance, two };

/** The files of `chart.generate.from-data`: real charts, and wrong pictures that a seller may send. */
export function makeChartSamples(): { [file: string]: Uint8Array } {
  const files: { [file: string]: Uint8Array } = {};
  for (const [name, request] of Object.entries(chartRequests)) {
    files[`chart-${name}.png`] = drawChart(request).png();
  }
  const good = files["chart-revenue.png"] as Uint8Array;
  const { width, height } = revenue;
  files["chart-cut.png"] = cut(good, 0.6);
  files["chart-flipped.png"] = flipBit(good, 0.5);
  files["chart-white.png"] = blank(width, height, "#ffffff");
  files["chart-noise.png"] = noise(two.width, two.height, 7);
  files["chart-axes-only.png"] = drawChart(revenue, { withSeries: false }).png();
  files["chart-title-only.png"] = new Canvas(width, height, hex("#ffffff"))
    .write("REVENUE 2026", 8, 4, hex("#333333"))
    .png();
  files["chart-stopped.png"] = stopped(drawChart(revenue), 0.25, "#ffffff");
  const sky = (x: number, y: number) =>
    mix(hex("#1b3a6b"), hex("#f2b880"), (y + 20 * Math.sin(x / 17)) / height);
  files["chart-gradient.png"] = new Canvas(width, height, sky).png();
  return files;
}
