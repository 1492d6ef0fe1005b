import { detectAll } from "tinyld";
import { LANGUAGES } from "../languages.ts";

/** Below this many letters a language cannot be told reliably, only its script. */
const MIN_LETTERS = 20;

/** Longest part of a text that is looked at: enough to tell, and quick. */
const LOOKED_AT = 4000;

const SCRIPTS: { [language: string]: RegExp } = {
  ar: /\p{Script=Arabic}/u,
  bg: /\p{Script=Cyrillic}/u,
  el: /\p{Script=Greek}/u,
  he: /\p{Script=Hebrew}/u,
  hi: /\p{Script=Devanagari}/u,
  ja: /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Han}]/u,
  ko: /\p{Script=Hangul}/u,
  ru: /\p{Script=Cyrillic}/u,
  uk: /\p{Script=Cyrillic}/u,
  zh: /\p{Script=Han}/u,
};

/** Guesses at a text's language, best first; `confidence` is the share of the best one's score. */
export type LanguageGuess = { language: string; confidence: number };

/** A text, or when it is long its beginning, middle and end: what comes later has to be in the language too. */
function sampleOf(text: string): string {
  if (text.length <= LOOKED_AT) return text;
  const [part, middle] = [Math.floor(LOOKED_AT / 3), Math.floor(text.length / 2)];
  return `${text.slice(0, part)} ${text.slice(middle, middle + part)} ${text.slice(-part)}`;
}

/** Ranks the languages a text may be in. Empty when nothing can be said. */
export function detectLanguages(text: string): LanguageGuess[] {
  const guesses = detectAll(sampleOf(text), { only: [...LANGUAGES] });
  const best = guesses[0]?.accuracy ?? 0;
  return guesses.map(({ lang, accuracy }) => ({
    language: lang,
    confidence: best === 0 ? 0 : accuracy / best,
  }));
}

/**
 * Whether a text is in a language as far as can be told. `floor` is the least confidence beside the best guess: 1 wants
 * the best guess itself. Texts of fewer than 20 letters have only their script checked.
 */
export function isInLanguage(text: string, language: string, floor: number): boolean {
  const letters = [...sampleOf(text)].filter((character) => /\p{L}/u.test(character));
  if (letters.length === 0) return false;
  const script = SCRIPTS[language] ?? /\p{Script=Latin}/u;
  const inScript = letters.filter((letter) => script.test(letter)).length;
  if (inScript < letters.length / 2) return false;
  // A sign of Chinese, Japanese or Korean says as much as several letters.
  const isDense = language === "zh" || language === "ja" || language === "ko";
  if (letters.length * (isDense ? 4 : 1) < MIN_LETTERS) return true;
  const guesses = detectLanguages(text);
  if (guesses.length === 0) return true;
  return guesses.some((guess) => guess.language === language && guess.confidence >= floor);
}

/** The language a text is most likely in; undefined when it is too short or too mixed to say. */
export function bestLanguage(text: string): string | undefined {
  const [first, second] = detectLanguages(text);
  if (!first || text.length < 2 * MIN_LETTERS) return undefined;
  return second !== undefined && second.confidence > 0.8 ? undefined : first.language;
}
