import { bestLanguage, isInLanguage } from "../checks/detectLanguage.ts";
import { keepsContent } from "../checks/keepsContent.ts";
import { normalized, sharedStems, textLength } from "../checks/textMeasures.ts";
import { defineCapability } from "../defineCapability.ts";

/** How many letters a text may gain or lose by the change of register alone. */
const POLITE = 40;

/** The longest message of a chat that needs no stop at its end, in letters. */
const CHAT = 100;

/** `text.rewrite.formal` and `.casual`: the same text in another register. */
export const textRewrite = defineCapability({
  id: "text.rewrite",
  summary: "the same content in another register, in the same language",
  input: {
    type: "object",
    properties: { text: { type: "string", minLength: 1, maxLength: 100_000 } },
    required: ["text"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: { text: { type: "string", maxLength: 300_000 } },
    required: ["text"],
  },
  inputRules: ({ text }) =>
    /\p{L}/u.test(text) ? [] : [{ field: "params.text", message: "has no words in it" }],
  checks: {
    is_not_empty: {
      since: "v0",
      test: ({ output }) => (/\p{L}/u.test(output.text) ? undefined : "has no words in it"),
    },
    has_plausible_length: {
      since: "v0",
      test: ({ input, output }) => {
        const [length, before] = [textLength(output.text), textLength(input.text)];
        // "thx" is "Thank you very much." in another register.
        if (length <= before + POLITE && before <= length + POLITE) return undefined;
        const ratio = length / Math.max(1, before);
        return ratio >= 0.4 && ratio <= 2.5 ? undefined : `is ${ratio.toFixed(2)} times as long`;
      },
    },
    is_changed: {
      since: "v1",
      test: ({ input, output }) =>
        normalized(input.text) === normalized(output.text) ? "is the same text" : undefined,
    },
    is_in_the_same_language: {
      since: "v1",
      test: ({ input, output }) => {
        const language = bestLanguage(input.text);
        const own = bestLanguage(output.text);
        // Slang often reads as another language. Then the same language may still be one of the guesses.
        const isSame =
          language === undefined ||
          isInLanguage(output.text, language, 1) ||
          (own !== undefined && isInLanguage(input.text, own, 0.4));
        return isSame ? undefined : `is not in ${language}`;
      },
    },
    is_about_the_same: {
      since: "v1",
      test: ({ input, output }) => {
        // A short text may change almost completely when its register changes.
        if (textLength(input.text) < 60) return undefined;
        const shared = Math.max(sharedStems(output.text, input.text), sharedStems(input.text, output.text));
        return shared >= 0.15
          ? undefined
          : `shares ${(100 * shared).toFixed(0)} % of its words with the source`;
      },
    },
    ...keepsContent,
    is_complete: {
      since: "v1",
      test: (context) =>
        context.parts.style === "casual" && textLength(context.output.text) <= CHAT
          ? undefined
          : keepsContent.is_complete.test(context),
    },
  },
});
