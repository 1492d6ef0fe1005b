import { defineCapability } from "../defineCapability.ts";

/** Dimensions of models that many sell, and whether their vectors have length 1. */
const MODELS: { readonly [model: string]: { dim: number; unit: boolean } } = {
  "text-embedding-3-small": { dim: 1536, unit: true },
  "text-embedding-3-large": { dim: 3072, unit: true },
  "text-embedding-ada-002": { dim: 1536, unit: true },
  "all-minilm-l6-v2": { dim: 384, unit: true },
  "all-mpnet-base-v2": { dim: 768, unit: true },
  "bge-small-en": { dim: 384, unit: true },
  "hashed-ngrams-128": { dim: 128, unit: true },
};

/** `embed.text.{model}`: a text as a vector. */
export const embedText = defineCapability({
  id: "embed.text",
  summary: "a text as a vector",
  input: {
    type: "object",
    properties: { text: { type: "string", minLength: 1, maxLength: 100_000 } },
    required: ["text"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: {
      vector: { type: "array", minItems: 8, maxItems: 16_384, items: { type: "number" } },
      dim: { type: "integer", minimum: 8 },
    },
    required: ["vector", "dim"],
  },
  checks: {
    has_the_declared_dimension: {
      since: "v0",
      test: ({ output }) =>
        output.vector.length === output.dim
          ? undefined
          : `has ${output.vector.length} numbers, and says ${output.dim}`,
    },
    is_not_zero: {
      since: "v0",
      test: ({ output }) => (lengthOf(output.vector) > 0 ? undefined : "is the zero vector"),
    },
    has_the_dimension_of_its_model: {
      since: "v1",
      test: ({ output, parts }) => {
        const known = Object.hasOwn(MODELS, parts.model ?? "") ? MODELS[parts.model ?? ""] : undefined;
        return known === undefined || known.dim === output.dim
          ? undefined
          : `has ${output.dim} dimensions, and ${parts.model} has ${known.dim}`;
      },
    },
    has_the_length_of_its_model: {
      since: "v1",
      test: ({ output, parts }) => {
        const known = Object.hasOwn(MODELS, parts.model ?? "") ? MODELS[parts.model ?? ""] : undefined;
        const length = lengthOf(output.vector);
        if (!(length < 1e6)) return `has the length ${length}`;
        return known?.unit && Math.abs(length - 1) > 0.02
          ? `has the length ${length.toFixed(3)}, not 1`
          : undefined;
      },
    },
    is_spread_out: {
      since: "v1",
      test: ({ output }) => {
        const square = lengthOf(output.vector) ** 2;
        const largest = Math.max(...output.vector.map((value) => value * value));
        if (largest > 0.5 * square) return "has one number that makes up most of its length";
        const distinct = new Set(output.vector).size;
        return distinct >= Math.min(16, output.dim / 4)
          ? undefined
          : `has only ${distinct} different numbers`;
      },
    },
    repeats_nothing: {
      since: "v1",
      test: ({ output: { vector } }) => {
        for (let period = 1; period <= vector.length / 2; period++) {
          if (vector.length % period === 0 && vector.every((value, at) => value === vector[at % period])) {
            return `repeats itself every ${period} numbers`;
          }
        }
        return undefined;
      },
    },
    has_both_signs: {
      since: "v1",
      test: ({ output: { vector } }) => {
        const negative = vector.filter((value) => value < 0).length;
        const positive = vector.filter((value) => value > 0).length;
        return Math.min(negative, positive) * 20 >= negative + positive
          ? undefined
          : "has numbers of one sign only";
      },
    },
  },
});

function lengthOf(vector: number[]): number {
  return Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
}
