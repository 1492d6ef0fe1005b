import { isPlainlyToxic, plainSentiment } from "../checks/plainWords.ts";
import { defineCapability } from "../defineCapability.ts";

const input = {
  type: "object",
  properties: { text: { type: "string", minLength: 1, maxLength: 50_000 } },
  required: ["text"],
  additionalProperties: false,
} as const;

/** `classify.text.sentiment`. */
export const classifyTextSentiment = defineCapability({
  id: "classify.text.sentiment",
  summary: "whether a text is positive, negative or neutral",
  input,
  output: {
    type: "object",
    properties: {
      sentiment: { enum: ["positive", "negative", "neutral"] },
      confidence: { type: "number", minimum: 0, maximum: 1 },
    },
    required: ["sentiment", "confidence"],
  },
  checks: {
    has_a_likely_winner: {
      since: "v1",
      // The most likely of three labels has at least a third of the probability, which may be rounded to 0.33.
      test: ({ output }) =>
        output.confidence >= 0.33 ? undefined : `is ${output.confidence} sure: less than chance`,
    },
    agrees_with_plain_words: {
      since: "v1",
      test: ({ input: { text }, output }) => {
        const plain = plainSentiment(text);
        return plain === undefined || plain === output.sentiment ? undefined : `is plainly ${plain}`;
      },
    },
    is_not_certain_of_nothing: {
      since: "v1",
      test: ({ input: { text }, output }) => {
        const isEmpty = !/\p{L}{2}/u.test(text) && !/\p{Extended_Pictographic}/u.test(text);
        return isEmpty && output.sentiment !== "neutral" && output.confidence > 0.6
          ? "finds a sentiment where there is no word"
          : undefined;
      },
    },
  },
});

/** `classify.text.toxicity`. */
export const classifyTextToxicity = defineCapability({
  id: "classify.text.toxicity",
  summary: "whether a text insults, threatens or degrades",
  input,
  output: {
    type: "object",
    properties: {
      toxic: { type: "boolean" },
      confidence: { type: "number", minimum: 0, maximum: 1 },
    },
    required: ["toxic", "confidence"],
  },
  checks: {
    has_a_likely_winner: {
      since: "v1",
      test: ({ output }) =>
        output.confidence >= 0.5 ? undefined : `is ${output.confidence} sure: less than chance`,
    },
    sees_plain_insults: {
      since: "v1",
      test: ({ input: { text }, output }) =>
        !output.toxic && isPlainlyToxic(text) ? "calls a plain insult harmless" : undefined,
    },
    is_not_certain_of_nothing: {
      since: "v1",
      test: ({ input: { text }, output }) =>
        output.toxic && output.confidence > 0.6 && !/\p{L}{2}/u.test(text)
          ? "finds an insult where there is no word"
          : undefined,
    },
  },
});
