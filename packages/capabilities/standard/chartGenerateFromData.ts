import { type ChartMarks, readChartMarks } from "../checks/chartMarks.ts";
import type { Name } from "../checks/chartOrders.ts";
import { barComplaint, lineComplaint, pieComplaint } from "../checks/chartShows.ts";
import {
  imageSchema,
  isNotBlank,
  isNotNoise,
  isValidPng,
  matchesDimensions,
  measured,
  measuresOf,
  pictureOf,
  sizeRules,
} from "../checks/pictureChecks.ts";
import { defineCapability } from "../defineCapability.ts";

const CHART_TYPES = ["bar", "line", "pie"] as const;
type Complaint = (marks: ChartMarks, values: number[], names: readonly Name[]) => string | undefined;
const SHOWS: { [type in (typeof CHART_TYPES)[number]]: Complaint } = {
  bar: barComplaint,
  line: lineComplaint,
  pie: pieComplaint,
};

/** `chart.generate.from-data`: a chart of a series as PNG. */
export const chartGenerateFromData = defineCapability({
  id: "chart.generate.from-data",
  summary: "a bar, line or pie chart of a series, as PNG",
  input: {
    type: "object",
    properties: {
      title: { type: "string", maxLength: 200 },
      data: {
        type: "array",
        minItems: 1,
        maxItems: 1000,
        items: {
          type: "object",
          properties: {
            x: { anyOf: [{ type: "string", maxLength: 100 }, { type: "number" }] },
            y: { type: "number" },
          },
          required: ["x", "y"],
          additionalProperties: false,
        },
      },
      chart_type: { enum: CHART_TYPES },
      width: { type: "integer", minimum: 64, maximum: 2048 },
      height: { type: "integer", minimum: 64, maximum: 2048 },
      x_label: { type: "string", maxLength: 100 },
      y_label: { type: "string", maxLength: 100 },
      theme: { enum: ["light", "dark"] },
    },
    required: ["data", "chart_type", "width", "height"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: {
      image_b64: imageSchema,
      width: { type: "integer", minimum: 1 },
      height: { type: "integer", minimum: 1 },
      chart_type: { type: "string" },
    },
    required: ["image_b64", "width", "height", "chart_type"],
  },
  inputRules: ({ data, chart_type, width, height }) => [
    ...sizeRules({ width, height }),
    ...(chart_type === "pie" && data.some(({ y }) => y < 0)
      ? [{ field: "params.data", message: "must have no negative y in a pie" }]
      : []),
  ],
  checks: {
    is_valid_png: isValidPng(),
    matches_dimensions: matchesDimensions(),
    is_asked_type: {
      since: "v0",
      test: ({ input, output }) =>
        input.chart_type === output.chart_type
          ? undefined
          : `is a ${output.chart_type}, not a ${input.chart_type}`,
    },
    is_not_blank: isNotBlank(),
    is_not_noise: isNotNoise(),
    // A chart has few colours on a plain background, unlike photographs and gradients.
    is_drawn: measured(
      ({ commonest, commonestEight }) => commonest >= 0.2 && commonestEight >= 0.8,
      "lacks the plain background and the few colours of a chart",
    ),
    is_across_the_chart: measured(
      ({ commonest, inkWidth, inkHeight }) => commonest <= 0.985 && inkWidth >= 0.35 && inkHeight >= 0.35,
      "has almost nothing drawn on it",
    ),
    // Axes and grid lines run from edge to edge, so they give almost all rows of pixels the same pattern. Only a series
    // makes the rows differ. The tips of nearly equal values may all be in the same row.
    has_series: {
      since: "v1",
      test: async (context) => {
        const values = context.input.data.map(({ y }) => y);
        const largest = Math.max(...values.map(Math.abs)) || 1;
        const wanted = Math.min(3, new Set(values.map((y) => Math.round((5 * y) / largest))).size);
        const { rowPatterns } = await measuresOf(context);
        return rowPatterns >= wanted ? undefined : "has no series between its axes";
      },
    },
    shows_the_data: {
      since: "v1",
      test: async (context) => {
        const { data, chart_type } = context.input;
        const marks = readChartMarks(await pictureOf(context));
        return SHOWS[chart_type](
          marks,
          data.map(({ y }) => y),
          data.map(({ x }) => x),
        );
      },
    },
  },
});
