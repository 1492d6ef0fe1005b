import { bestLanguage, isInLanguage } from "../checks/detectLanguage.ts";
import { isExcerpt } from "../checks/isExcerpt.ts";
import { missingNumber } from "../checks/numbersInText.ts";
import { countWords, endsSentence, endsWithPoints, normalized, sharedStems } from "../checks/textMeasures.ts";
import { defineCapability } from "../defineCapability.ts";
import type { FamilyValue } from "../taxonomy.ts";

/** The smallest and the largest share of the source's words, by the requested length. */
const SHARES: {
  readonly [length in FamilyValue<"text.summarize", "length">]: readonly [least: number, most: number];
} = {
  short: [0.01, 0.2],
  medium: [0.1, 0.3],
  long: [0.25, 0.6],
};

/** `text.summarize.short`, `.medium` and `.long`. */
export const textSummarize = defineCapability({
  id: "text.summarize",
  summary: "the same in fewer words, in the same language",
  input: {
    type: "object",
    properties: { text: { type: "string", minLength: 1, maxLength: 200_000 } },
    required: ["text"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: { summary: { type: "string", maxLength: 200_000 } },
    required: ["summary"],
  },
  inputRules: ({ text }) =>
    countWords(text) < 40 ? [{ field: "params.text", message: "must have at least 40 words" }] : [],
  checks: {
    is_not_empty: {
      since: "v0",
      test: ({ output }) => (/\p{L}/u.test(output.summary) ? undefined : "has no words in it"),
    },
    is_shorter: {
      since: "v0",
      test: ({ input, output }) =>
        countWords(output.summary) < countWords(input.text) ? undefined : "is not shorter than the source",
    },
    has_the_asked_length: {
      since: "v1",
      test: ({ input, output, parts }) => {
        const [least, most] = SHARES[parts.length as keyof typeof SHARES] ?? [0, 1];
        const share = countWords(output.summary) / countWords(input.text);
        if (share >= least && share <= most) return undefined;
        return `has ${(100 * share).toFixed(0)} % of the words, not ${100 * least} to ${100 * most} %`;
      },
    },
    is_in_the_same_language: {
      since: "v1",
      test: ({ input, output }) => {
        const language = bestLanguage(input.text);
        return language === undefined || isInLanguage(output.summary, language, 1)
          ? undefined
          : `is not in ${language}`;
      },
    },
    is_about_the_source: {
      since: "v1",
      test: ({ input, output }) => {
        const shared = sharedStems(output.summary, input.text);
        return shared >= 0.35
          ? undefined
          : `shares ${(100 * shared).toFixed(0)} % of its words with the source`;
      },
    },
    invents_no_numbers: {
      since: "v1",
      test: ({ input, output }) => {
        const invented = missingNumber(output.summary, input.text);
        return invented === undefined
          ? undefined
          : `has the number ${invented}, which the source does not have`;
      },
    },
    is_no_excerpt: {
      since: "v1",
      test: ({ input, output }) =>
        normalized(input.text).startsWith(normalized(output.summary)) || isExcerpt(output.summary, input.text)
          ? "is one stretch of the source, nearly word for word"
          : undefined,
    },
    is_complete: {
      since: "v1",
      test: ({ output }) =>
        endsSentence(output.summary) || endsWithPoints(output.summary)
          ? undefined
          : "stops within a sentence",
    },
  },
});
