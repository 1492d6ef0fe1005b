import { bestLanguage, isInLanguage } from "../checks/detectLanguage.ts";
import { normalized, textLength } from "../checks/textMeasures.ts";
import { isWebAddress } from "../checks/webAddress.ts";
import { defineCapability } from "../defineCapability.ts";
import { LANGUAGES } from "../languages.ts";

/** The fastest possible speech, in letters per second. News readers reach 20. */
const FASTEST = 45;

/** Other codes of three languages. */
const CODES: { readonly [code: string]: string } = { nb: "no", nn: "no", iw: "he", in: "id" };

function sameCode(language: string): string {
  return CODES[language] ?? language;
}

/**
 * How much longer a segment may have been than its time codes say, in milliseconds. Time codes are rounded, and a short
 * word may have no length at all.
 */
const ROUNDED_MS = 250;

/**
 * `audio.transcribe.json-with-timestamps`, or with the language in the id: the words of a recording with
 * their times.
 */
export const audioTranscribe = defineCapability({
  id: "audio.transcribe.json-with-timestamps",
  summary: "what is said in a recording, and when",
  input: {
    type: "object",
    properties: {
      audio_url: { type: "string", minLength: 8, maxLength: 4096 },
      language_hint: { enum: LANGUAGES },
      /** The length of the recording, if the buyer knows it. */
      duration_ms: { type: "integer", minimum: 1, maximum: 86_400_000 },
    },
    required: ["audio_url"],
    additionalProperties: false,
  },
  output: {
    type: "object",
    properties: {
      language: { type: "string", pattern: "^[a-z]{2}$" },
      segments: {
        type: "array",
        minItems: 1,
        maxItems: 100_000,
        items: {
          type: "object",
          properties: {
            start_ms: { type: "integer", minimum: 0 },
            end_ms: { type: "integer", minimum: 0 },
            text: { type: "string", maxLength: 10_000 },
          },
          required: ["start_ms", "end_ms", "text"],
        },
      },
    },
    required: ["language", "segments"],
  },
  inputRules: ({ audio_url }) =>
    isWebAddress(audio_url)
      ? []
      : [{ field: "params.audio_url", message: "must be an http or https address" }],
  checks: {
    has_words: {
      since: "v0",
      test: ({ output }) =>
        output.segments.some(({ text }) => /\p{L}/u.test(text)) ? undefined : "has no words in it",
    },
    is_in_order: {
      since: "v0",
      test: ({ output }) => {
        let last = 0;
        for (const [at, { start_ms, end_ms }] of output.segments.entries()) {
          if (start_ms < last || end_ms < start_ms)
            return `segment ${at} runs from ${start_ms} to ${end_ms} ms`;
          last = start_ms;
        }
        return undefined;
      },
    },
    is_in_the_asked_language: {
      since: "v0",
      test: ({ input, output, parts }) => {
        const asked = parts.language ?? input.language_hint ?? output.language;
        return sameCode(output.language) === sameCode(asked)
          ? undefined
          : `is in ${output.language}, not ${asked}`;
      },
    },
    reads_as_its_language: {
      since: "v1",
      test: ({ output }) => {
        const text = output.segments.map((segment) => segment.text).join(" ");
        const language = sameCode(output.language);
        // This check does not know the language. No buyer can ask for such a language.
        if (!LANGUAGES.some((known) => known === language)) return undefined;
        if (isInLanguage(text, language, 0.7)) return undefined;
        return `does not read as ${output.language}, but as ${bestLanguage(text) ?? "something else"}`;
      },
    },
    does_not_overlap: {
      since: "v1",
      test: ({ output: { segments } }) => {
        const at = segments.findIndex(({ start_ms }, index) => start_ms < (segments[index - 1]?.end_ms ?? 0));
        return at < 0 ? undefined : `segment ${at} begins before the one before it ends`;
      },
    },
    is_speakable: {
      since: "v1",
      test: ({ output }) => {
        const isFast = (letters: number, ms: number): boolean => letters * 1000 > FASTEST * (ms + ROUNDED_MS);
        const [first, last] = [output.segments[0], output.segments.at(-1)];
        let letters = 0;
        for (const { start_ms, end_ms, text } of output.segments) {
          const own = textLength(text);
          if (isFast(own, end_ms - start_ms)) return `${own} letters in ${end_ms - start_ms} ms`;
          letters += own;
        }
        const whole = (last?.end_ms ?? 0) - (first?.start_ms ?? 0);
        // Many short segments must not add up to more than anybody can say.
        return isFast(letters, whole) ? `${letters} letters in ${whole} ms` : undefined;
      },
    },
    does_not_loop: {
      since: "v1",
      test: ({ output: { segments } }) => {
        const counts = new Map<string, number>();
        let most = 0;
        for (const { text } of segments) {
          const said = normalized(text);
          const count = (counts.get(said) ?? 0) + 1;
          counts.set(said, count);
          most = Math.max(most, count);
        }
        return segments.length >= 4 && most * 2 > segments.length ? `says the same ${most} times` : undefined;
      },
    },
    covers_the_recording: {
      since: "v1",
      test: ({ input: { duration_ms }, output }) => {
        if (duration_ms === undefined) return undefined;
        const end = output.segments.at(-1)?.end_ms ?? 0;
        if (end > duration_ms + 1000) return `ends ${end - duration_ms} ms after the recording`;
        return end >= duration_ms / 2 ? undefined : `ends after ${end} of ${duration_ms} ms`;
      },
    },
  },
});
