import { detectAll } from "tinyld";
import { LANGUAGES } from "../languages.ts";
import { textLength } from "./textMeasures.ts";

/** A text with fewer letters does not show its language reliably, only its script. */
const MIN_LETTERS = 20;

/** The most characters of a text that are examined. They are enough to find the language quickly. */
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

/**
 * The longest text of Chinese characters that may be a title in Chinese or in Japanese. A Japanese sentence has kana.
 */
const TITLE = 12;
const HAN = /\p{Script=Han}/u;

/**
 * Two languages in which many whole sentences are the same. If one of them is the best guess, the other one may follow
 * closely.
 */
const TWINS = ["da", "no"];
const TWIN_FLOOR = 0.8;

/** The text without links, because links have Latin letters in every language. */
function withoutLinks(text: string): string {
  return text.replace(
    /https?:\/\/[^\s\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}，。、）」]+/gu,
    " ",
  );
}

/** Whether a language is not written in Latin letters. */
export function hasOwnScript(language: string): boolean {
  return Object.hasOwn(SCRIPTS, language);
}

/** Guesses at a text's language, best first. `confidence` is a guess's score divided by the best score. */
export type LanguageGuess = { language: string; confidence: number };

/**
 * A whole short text, or the beginning, middle and end of a long one, because its later parts must be in the
 * language too.
 */
function sampleOf(text: string): string {
  if (text.length <= LOOKED_AT) return text;
  const [part, middle] = [Math.floor(LOOKED_AT / 3), Math.floor(text.length / 2)];
  return `${text.slice(0, part)} ${text.slice(middle, middle + part)} ${text.slice(-part)}`;
}

/** Ranks the possible languages of a text. The list is empty if no language can be found. */
export function detectLanguages(text: string): LanguageGuess[] {
  const guesses = detectAll(sampleOf(text), { only: [...LANGUAGES] });
  const best = guesses[0]?.accuracy ?? 0;
  return guesses.map(({ lang, accuracy }) => ({
    language: lang,
    confidence: best === 0 ? 0 : accuracy / best,
  }));
}

/**
 * Whether a text seems to be in a language. `floor` is the lowest confidence relative to the best guess; with
 * 1 it must be the best guess. For texts of fewer than 20 letters only the script is checked.
 */
export function isInLanguage(text: string, language: string, floor: number): boolean {
  const words = withoutLinks(text);
  const letters = [...sampleOf(words)].filter((character) => /\p{L}/u.test(character));
  if (letters.length === 0) return false;
  const script = SCRIPTS[language] ?? /\p{Script=Latin}/u;
  const own = letters.filter((letter) => script.test(letter));
  // A Chinese, Japanese or Korean character contains as much as several letters.
  if (textLength(own.join("")) < textLength(letters.join("")) / 2) return false;
  const isDense = language === "zh" || language === "ja" || language === "ko";
  if (letters.length * (isDense ? 4 : 1) < MIN_LETTERS) return true;
  // A Japanese title without kana cannot be told from a Chinese one.
  const mayBeTitle = (language === "ja" || language === "zh") && letters.length <= TITLE;
  if (mayBeTitle && letters.every((letter) => HAN.test(letter))) return true;
  const guesses = detectLanguages(words);
  const [best] = guesses;
  if (best === undefined) return true;
  const isTwin = TWINS.includes(language) && TWINS.includes(best.language);
  const least = isTwin ? Math.min(floor, TWIN_FLOOR) : floor;
  return guesses.some((guess) => guess.language === language && guess.confidence >= least);
}

/** The most likely language of a text; undefined if the text is too short or too mixed. */
export function bestLanguage(text: string): string | undefined {
  const [first, second] = detectLanguages(text);
  if (!first || text.length < 2 * MIN_LETTERS) return undefined;
  return second !== undefined && second.confidence > 0.8 ? undefined : first.language;
}
