import { type ChartRequest, drawChart, type Point } from "../../../tools/samples/charts.ts";
import type { Honest } from "./honest.ts";

const chart = (
  name: string,
  kind: ChartRequest["chart_type"],
  data: Point[],
  shown: Point[] = data,
): Honest => {
  const params: ChartRequest = { chart_type: kind, width: 240, height: 160, data };
  const image_b64 = Buffer.from(drawChart({ ...params, data: shown }).png()).toString("base64");
  return {
    name,
    id: "chart.generate.from-data",
    params,
    output: { image_b64, width: 240, height: 160, chart_type: kind },
  };
};
const named = (values: number[]): Point[] => values.map((y, at) => ({ x: `Q${at + 1}`, y }));
const quarters = named([1200, 1850, 640, 2210]);
const years: Point[] = [40, 70, 20, 55].map((y, at) => ({ x: 2026 - at, y }));

export const honestCharts: Honest[] = [
  chart("bars of nearly equal values, from zero", "bar", named([1000, 1005, 1010, 1002])),
  chart("bars of values that differ by a tenth", "bar", named([90, 95, 100])),
  chart("bars for the years of a list that begins with the last", "bar", years, [...years].reverse()),
  chart(
    "categories that are sorted by value",
    "bar",
    quarters,
    [...quarters].sort((a, b) => b.y - a.y),
  ),
  chart("a pie of nearly equal slices", "pie", named([1000, 1005, 1010, 1002])),
];
