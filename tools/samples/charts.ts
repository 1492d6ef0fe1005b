import { Canvas, type Colour, circle, hex, line, rectangle, wedge } from "./canvas.ts";

export type Point = { x: string | number; y: number };
type Theme = { ground: Colour; ink: Colour; grid: Colour; series: Colour[] };

const LIGHT: Theme = {
  ground: hex("#ffffff"),
  ink: hex("#333333"),
  grid: hex("#dddddd"),
  series: ["#3366cc", "#dc3912", "#ff9900", "#109618", "#990099", "#0099c6"].map(hex),
};
const DARK: Theme = {
  ground: hex("#1b1f2a"),
  ink: hex("#e6e6e6"),
  grid: hex("#3a4050"),
  series: ["#66c2a5", "#fc8d62", "#8da0cb", "#e78ac3", "#a6d854", "#ffd92f"].map(hex),
};

export type ChartRequest = {
  data: Point[];
  chart_type: "bar" | "line" | "pie";
  width: number;
  height: number;
  title?: string;
  theme?: "light" | "dark";
};

/** Draws a chart as a seller of `chart.generate.from-data` would. */
export function drawChart(request: ChartRequest, { withSeries = true } = {}): Canvas {
  const theme = request.theme === "dark" ? DARK : LIGHT;
  const canvas = new Canvas(request.width, request.height, theme.ground);
  if (request.title) canvas.write(request.title, 8, 4, theme.ink);
  if (request.chart_type === "pie") return withSeries ? drawPie(canvas, request, theme) : canvas;
  const plot = { left: 26, top: 14, right: request.width - 8, bottom: request.height - 14 };
  const top = Math.max(...request.data.map(({ y }) => y), 0);
  const bottom = Math.min(...request.data.map(({ y }) => y), 0);
  const heightOf = (y: number): number =>
    plot.bottom - ((y - bottom) / (top - bottom || 1)) * (plot.bottom - plot.top);
  for (let step = 0; step <= 4; step++) {
    const value = bottom + ((top - bottom) * step) / 4;
    canvas.paint(line(plot.left, heightOf(value), plot.right, heightOf(value), 1), theme.grid);
    canvas.write(String(Math.round(value)), 2, Math.round(heightOf(value)) - 2, theme.ink);
  }
  canvas.paint(line(plot.left, plot.top, plot.left, plot.bottom, 1), theme.ink);
  canvas.paint(line(plot.left, heightOf(0), plot.right, heightOf(0), 1), theme.ink);
  if (!withSeries) return canvas;
  const slot = (plot.right - plot.left) / request.data.length;
  const places = request.data.map(({ y }, at) => [plot.left + slot * (at + 0.5), heightOf(y)] as const);
  for (const [at, [x, y]] of places.entries()) {
    if (request.chart_type === "bar") {
      const [from, to] = [Math.min(y, heightOf(0)), Math.max(y, heightOf(0))];
      canvas.paint(rectangle(x - slot * 0.35, from, x + slot * 0.35, to), theme.series[0] as Colour);
    } else {
      const next = places[at + 1];
      if (next) canvas.paint(line(x, y, next[0], next[1], 2.5), theme.series[0] as Colour);
      canvas.paint(circle(x, y, 3), theme.series[1] as Colour);
    }
    const label = String(request.data[at]?.x ?? "");
    if (slot > label.length * 4)
      canvas.write(label, Math.round(x - label.length * 2), plot.bottom + 4, theme.ink);
  }
  return canvas;
}

function drawPie(canvas: Canvas, { data, width, height }: ChartRequest, theme: Theme): Canvas {
  const total = data.reduce((sum, { y }) => sum + y, 0);
  let from = 0;
  for (const [at, { x, y }] of data.entries()) {
    const to = from + y / total;
    const colour = theme.series[at % theme.series.length] as Colour;
    canvas.paint(wedge(width * 0.4, height / 2 + 4, Math.min(width * 0.38, height * 0.42), from, to), colour);
    const top = 14 + at * 9;
    canvas.paint(rectangle(width - 46, top, width - 40, top + 6), colour);
    canvas.write(String(x).slice(0, 9), width - 38, top, theme.ink);
    from = to;
  }
  return canvas;
}
