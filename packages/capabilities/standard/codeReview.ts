import { countWords, normalizedForm } from "../checks/textMeasures.ts";
import { defineCapability } from "../defineCapability.ts";

/** `code.review`, and `code.review.{language}`: findings about a program. */
export const codeReview = defineCapability({
  id: "code.review",
  summary: "findings about a program, each at its line",
  input: {
    type: "object",
    properties: { code: { type: "string", minLength: 1, maxLength: 200_000 } },
    required: ["code"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: {
      findings: {
        type: "array",
        maxItems: 1000,
        items: {
          type: "object",
          properties: {
            severity: { enum: ["info", "low", "medium", "high", "critical"] },
            line: { type: "integer", minimum: 1 },
            message: { type: "string", minLength: 1, maxLength: 4000 },
          },
          required: ["severity", "line", "message"],
        },
      },
    },
    required: ["findings"],
  },
  inputRules: ({ code }) => (code.trim() === "" ? [{ field: "params.code", message: "is empty" }] : []),
  checks: {
    points_into_the_code: {
      since: "v0",
      test: ({ input, output }) => {
        const count = input.code.split(/\r?\n/).length;
        const beyond = output.findings.find(({ line }) => line > count);
        return beyond ? `has a finding at line ${beyond.line} of ${count}` : undefined;
      },
    },
    points_at_something: {
      since: "v1",
      test: ({ input, output }) => {
        const lines = input.code.split(/\r?\n/);
        const empty = output.findings.find(({ line }) => (lines[line - 1] ?? "").trim() === "");
        return empty ? `has a finding at the empty line ${empty.line}` : undefined;
      },
    },
    explains_itself: {
      since: "v1",
      test: ({ input, output }) => {
        const known = new Set(longWordsIn(input.code));
        const mute = output.findings.find(({ message }) => {
          const words = longWordsIn(message);
          // "Missing semicolon" says enough, but a piece of the code itself does not.
          const least = words.every((word) => known.has(word)) ? 3 : 2;
          // Chinese and Japanese have no spaces between words.
          return words.length < least && !hasSigns(message);
        });
        return mute ? `has a finding that says ${JSON.stringify(mute.message.slice(0, 60))}` : undefined;
      },
    },
    repeats_nothing: {
      since: "v1",
      test: ({ output }) => {
        const places = output.findings.map(({ line, message }) => `${line} ${message.trim().toLowerCase()}`);
        if (new Set(places).size < places.length) return "says the same of the same line twice";
        const messages = new Set(output.findings.map(({ message }) => message.trim().toLowerCase()));
        return messages.size === 1 && output.findings.length > 3 ? "says the same of every line" : undefined;
      },
    },
    is_about_the_code: {
      since: "v1",
      test: ({ input, output }) => {
        if (output.findings.length === 0) return undefined;
        const names = namesIn(input.code);
        const parts = partsOf(names);
        // If the code has no names, a finding cannot name one.
        const isAbout =
          names.size === 0 ||
          output.findings.some(({ message }) => {
            const said = namesIn(withoutShortForms(message));
            return (
              [...said].some((word) => names.has(word)) || [...partsOf(said)].some((part) => parts.has(part))
            );
          });
        return isAbout ? undefined : "names nothing that is in the code";
      },
    },
  },
});

/** The names in a program or a message, in letters of any language. */
function namesIn(text: string): Set<string> {
  const whole = normalizedForm(text, "NFC");
  const names = [
    ...(whole.match(/[\p{L}_$][\p{L}\p{M}\p{N}_$]*/gu) ?? []),
    // A Chinese sentence has no spaces around a name.
    ...(whole.match(/(?<![\p{Script=Latin}\w$])[A-Za-z_$][\w$]*(?!\p{Script=Latin})/gu) ?? []),
  ];
  return new Set(names.filter((name) => !COMMON.has(name)));
}

/** The words in names: "user input" is about `userInput` and `user_input`, and "Average" about `average`. */
function partsOf(names: Set<string>): Set<string> {
  const parts = [...names].flatMap((name) => name.split(/[_$\d]+|(?<=\p{Ll})(?=\p{Lu})/u));
  return new Set(
    parts.map((part) => part.toLowerCase()).filter((part) => part.length >= 3 && !COMMON.has(part)),
  );
}

/** The words of at least two letters. */
function longWordsIn(text: string): string[] {
  return text.match(/\p{L}{2,}/gu) ?? [];
}

/** A message without the single letters in "e.g." and "it's", because these letters are not names. */
function withoutShortForms(message: string): string {
  return message.replace(/\b(?:e\.\s?g|i\.\s?e)\b|(?<=\p{L})['’](?:s|t|d|m|re|ll|ve)\b/giu, " ");
}

/** Whether a message has as many Chinese or Japanese characters as three words have. */
function hasSigns(message: string): boolean {
  return countWords(message.replace(/[^\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu, "")) >= 3;
}

/** Words of programs that are also common English words. */
const COMMON = new Set(
  "the and for not with from this that return use else while else new none true false class function type value name data list in is or if a an as at be by do go he i it me my no of on so to up us we am ok s t".split(
    " ",
  ),
);
