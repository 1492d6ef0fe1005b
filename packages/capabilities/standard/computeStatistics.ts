import { defineCapability } from "../defineCapability.ts";

/** Relative difference that rounding may make. Sellers may give ten digits only. */
const TOLERANCE = 1e-9;

/** What a variance may lose if it is computed as the mean of squares minus the squared mean. */
const ROUNDING = 2e-15;

/**
 * `compute.statistics.*`: one number about a list of numbers. Variance and deviation may be those of the population or
 * of a sample. The percentile may be the nearest rank, or interpolated. Sellers differ, and all these are right.
 */
export const computeStatistics = defineCapability({
  id: "compute.statistics",
  summary: "mean, median, deviation, variance or 95th percentile of numbers",
  input: {
    type: "object",
    properties: {
      data: { type: "array", minItems: 1, maxItems: 10_000, items: { type: "number" } },
    },
    required: ["data"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: { result: { type: "number" } },
    required: ["result"],
  },
  inputRules: ({ data }, { operation }) =>
    data.length < 2 && (operation === "stddev" || operation === "variance")
      ? [{ field: "params.data", message: "must have at least 2 numbers" }]
      : [],
  checks: {
    is_possible: {
      since: "v0",
      test: ({ input, output, parts }) => {
        const [low, high] = boundsOf(parts.operation ?? "", input.data);
        const slack = TOLERANCE * Math.max(1, Math.abs(low), Math.abs(high));
        const fits = output.result >= low - slack && output.result <= high + slack;
        return fits ? undefined : `lies outside of ${low} to ${high}`;
      },
    },
    matches_recomputation: {
      since: "v1",
      test: ({ input, output, parts }) => {
        const right = rightAnswers(parts.operation ?? "", input.data);
        const isSpread = parts.operation === "variance" || parts.operation === "stddev";
        const power = (value: number): number => (parts.operation === "stddev" ? value * value : value);
        const fits = right.some(({ value, from }) => {
          const lost = isSpread ? ROUNDING * from * from : 4 * Number.EPSILON * input.data.length * from;
          const slack = TOLERANCE * Math.abs(power(value)) + lost;
          return Math.abs(power(value) - power(output.result)) <= slack;
        });
        return fits ? undefined : `is not ${right[0]?.value}`;
      },
    },
  },
});

function boundsOf(operation: string, data: number[]): [low: number, high: number] {
  const sorted = [...data].sort((a, b) => a - b);
  const [low, high] = [sorted[0] as number, sorted.at(-1) as number];
  if (operation === "stddev") return [0, high - low];
  if (operation === "variance") return [0, (high - low) ** 2];
  return [low, high];
}

/** A right answer. `from`: the largest of the numbers from which it comes, because rounding depends on these. */
type Answer = { value: number; from: number };

function rightAnswers(operation: string, data: number[]): Answer[] {
  const sorted = [...data].sort((a, b) => a - b);
  const at = (index: number): number => sorted[Math.min(Math.max(index, 0), sorted.length - 1)] as number;
  const count = data.length;
  const total = sum(data) / count;
  // The sum of the largest numbers overflows.
  const mean = Number.isFinite(total) ? total : sum(data.map((value) => value / count));
  const from = Math.max(...data.map(Math.abs));
  if (operation === "mean") return [{ value: mean, from }];
  if (operation === "median") return [between(at, (count - 1) / 2)];
  if (operation === "percentile-95") return percentiles95(at, count);
  const squares = sum(data.map((value) => (value - mean) ** 2));
  const variances = [squares / count, squares / (count - 1)];
  return (operation === "variance" ? variances : variances.map(Math.sqrt)).map((value) => ({ value, from }));
}

/** The number at a position in a sorted list, between two of its numbers if the position is no whole number. */
function between(at: (index: number) => number, position: number): Answer {
  const floor = Math.floor(position);
  const [low, high, share] = [at(floor), at(floor + 1), position - floor];
  if (share === 0) return { value: low, from: Math.abs(low) };
  return { value: low * (1 - share) + high * share, from: Math.max(Math.abs(low), Math.abs(high)) };
}

/** The definitions in use: nearest rank, and the interpolations of Hyndman and Fan (R's types 4 to 9). */
function percentiles95(at: (index: number) => number, count: number): Answer[] {
  const nearest = at(Math.ceil((95 * count) / 100) - 1);
  return [
    { value: nearest, from: Math.abs(nearest) },
    between(at, 0.95 * (count - 1)),
    between(at, 0.95 * count - 1),
    between(at, 0.95 * (count + 1) - 1),
    between(at, 0.95 * count - 0.5),
    between(at, 0.95 * (count + 1 / 3) - 2 / 3),
    between(at, 0.95 * (count + 0.25) - 0.625),
  ];
}

function sum(values: number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
