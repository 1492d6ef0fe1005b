import { hasOwnScript, isInLanguage } from "../checks/detectLanguage.ts";
import { keepsContent } from "../checks/keepsContent.ts";
import { normalized, textLength } from "../checks/textMeasures.ts";
import { untranslatedShare, withoutNames } from "../checks/untranslated.ts";
import { defineCapability } from "../defineCapability.ts";

/** Shorter texts, in letters, are a word or two. "Bye" is "Auf Wiedersehen", so their lengths say nothing. */
const SHORT = 20;

/** How many letters a greeting may lose or gain: "See you tomorrow morning!" is "明早见！". */
const GREETING = 24;

/**
 * A text with fewer than `FEW` letters is often taken for a similar language. For such a text, the right language may
 * be a later guess, with a confidence of at least `CLOSE`.
 */
const [FEW, CLOSE] = [40, 0.85];

/** `text.translate.{source}.{target}`, optionally with the register: `text.translate.en.it.business`. */
export const textTranslate = defineCapability({
  id: "text.translate",
  summary: "a text in another language",
  input: {
    type: "object",
    properties: { text: { type: "string", minLength: 1, maxLength: 100_000 } },
    required: ["text"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: {
      text: { type: "string", maxLength: 400_000 },
      detected_lang: { type: "string", maxLength: 16 },
    },
    required: ["text"],
  },
  inputRules: ({ text }) =>
    /[\p{L}\p{N}]/u.test(text) ? [] : [{ field: "params.text", message: "has no words in it" }],
  checks: {
    is_not_empty: {
      since: "v0",
      test: ({ output }) => (/[\p{L}\p{N}]/u.test(output.text) ? undefined : "has no words in it"),
    },
    has_plausible_length: {
      since: "v0",
      test: ({ input, output }) =>
        textLength(input.text) < SHORT && textLength(output.text) < 2 * SHORT
          ? undefined
          : lengthComplaint(input.text, output.text, 0.3, 3),
    },
    is_in_target_language: {
      since: "v0",
      test: ({ input, output, parts }) =>
        isTranslation(output.text, input.text, parts.target ?? "", 0.5)
          ? undefined
          : `is not in ${parts.target}`,
    },
    is_clearly_in_target_language: {
      since: "v1",
      test: ({ input, output, parts }) =>
        isTranslation(output.text, input.text, parts.target ?? "", textLength(output.text) < FEW ? CLOSE : 1)
          ? undefined
          : `reads as another language than ${parts.target}`,
    },
    is_about_as_long: {
      since: "v1",
      test: ({ input, output }) =>
        textLength(input.text) < SHORT ||
        Math.abs(textLength(output.text) - textLength(input.text)) <= GREETING
          ? undefined
          : lengthComplaint(input.text, output.text, 0.5, 2.2),
    },
    is_translated: {
      since: "v1",
      test: ({ input, output, parts }) =>
        parts.source !== parts.target &&
        textLength(input.text) >= 20 &&
        normalized(output.text) === normalized(input.text)
          ? "is the same text"
          : undefined,
    },
    is_translated_throughout: {
      since: "v1",
      test: ({ input, output, parts }) => {
        const share = untranslatedShare(output.text, input.text, parts.source ?? "", parts.target ?? "");
        return share <= 0.3 ? undefined : `has ${(100 * share).toFixed(0)} % of its words from the source`;
      },
    },
    ...keepsContent,
  },
});

function isTranslation(text: string, source: string, target: string, floor: number): boolean {
  return isInLanguage(hasOwnScript(target) ? withoutNames(text, source) : text, target, floor);
}

function lengthComplaint(source: string, text: string, low: number, high: number): string | undefined {
  const ratio = textLength(text) / Math.max(1, textLength(source));
  return ratio >= low && ratio <= high ? undefined : `is ${ratio.toFixed(2)} times as long as the source`;
}
