import { evaluateExpression } from "../checks/evaluateExpression.ts";
import { defineCapability } from "../defineCapability.ts";

/** The allowed difference relative to the result. Sellers may give ten digits only. */
const TOLERANCE = 1e-9;

/**
 * `compute.math.numeric`: the value of an arithmetic expression. A remainder (`%`) has the sign of the dividend, as in
 * JavaScript and C: `-7 % 3` is -1. In Python it is 2. Zero has no sign: `atan2(-0, -1)` is π.
 */
export const computeMathNumeric = defineCapability({
  id: "compute.math.numeric",
  summary: "the value of an arithmetic expression",
  input: {
    type: "object",
    properties: {
      expression: { type: "string", minLength: 1, maxLength: 2000 },
      vars: { type: "object", maxProperties: 100, additionalProperties: { type: "number" } },
      /** The number of decimal places to which the result is rounded. */
      precision: { type: "integer", minimum: 0, maximum: 15 },
    },
    required: ["expression"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: { result: { type: "number" } },
    required: ["result"],
  },
  inputRules: ({ expression, vars }) => {
    try {
      evaluateExpression(expression, vars as { [name: string]: number } | undefined);
      return [];
    } catch (error) {
      return [{ field: "params.expression", message: (error as Error).message }];
    }
  },
  checks: {
    is_finite: {
      since: "v0",
      test: ({ output }) => (Number.isFinite(output.result) ? undefined : "is no finite number"),
    },
    keeps_the_precision: {
      since: "v0",
      test: ({ input, output }) =>
        input.precision === undefined || Number(output.result.toFixed(input.precision)) === output.result
          ? undefined
          : `has more than ${input.precision} decimals`,
    },
    matches_recomputation: {
      since: "v1",
      test: ({ input, output }) => {
        const variables = input.vars as { [name: string]: number } | undefined;
        const { value, error } = evaluateExpression(input.expression, variables);
        const rounded = input.precision === undefined ? 0 : 0.5 * 10 ** -input.precision;
        const slack = rounded + TOLERANCE * Math.abs(value) + error;
        return Math.abs(output.result - value) <= slack ? undefined : `is not ${value}`;
      },
    },
  },
});
