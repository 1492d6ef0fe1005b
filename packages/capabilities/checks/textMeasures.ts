/** Characters of this script count as several letters in the length of a text. */
const DENSE = /[\p{Script=Han}]/u;
const HALF_DENSE = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/**
 * A text's length in letters of an alphabet. A Han character counts as three, kana and hangul as two, and
 * space as none.
 */
export function textLength(text: string): number {
  let length = 0;
  for (const character of text) {
    if (/\s/u.test(character)) continue;
    length += DENSE.test(character) ? 3 : HALF_DENSE.test(character) ? 2 : 1;
  }
  return length;
}

/**
 * Counts words, which are runs of letters and digits. In Chinese and Japanese every character counts as half
 * a word.
 */
export function countWords(text: string): number {
  let signs = 0;
  const spaced = text.replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, () => {
    signs++;
    return " ";
  });
  const words = spaced.match(/[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu)?.length ?? 0;
  return words + Math.ceil(signs / 2);
}

/** The longest link that is looked for at the end of a text. */
const MAX_LINK = 4096;

/**
 * Whether a text stops where a sentence may. French has a space before the last quotation mark, Hebrew and Arabic may
 * have a mark of direction, and casual texts have emojis at the end.
 */
export function endsSentence(text: string): boolean {
  // Many people write no stop directly after a link.
  const end = text.trimEnd().slice(-MAX_LINK);
  if (/https?:\/\/[!-~]+$/.test(end.slice(end.lastIndexOf("http")))) return true;
  // One regular expression for the whole end would take quadratic time for a run of emojis.
  for (const sign of [...text].reverse()) {
    if (STOP.test(sign)) return true;
    if (!AFTER_STOP.test(sign)) return false;
  }
  return false;
}

/**
 * Whether a text ends with a list whose points have no stop. Another point without a stop shows that the last one is
 * not cut off.
 */
export function endsWithPoints(text: string): boolean {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const isOpenPoint = (line: string): boolean => POINT.test(line) && !endsSentence(line);
  return POINT.test(lines.at(-1) ?? "") && lines.slice(0, -1).some(isOpenPoint);
}

const POINT = /^\s{0,9}(?:[-*•–]|\d{1,3}[.)])\s/;

/** A quotation in Japanese ends with its bracket alone: 「はい」. */
const STOP = /[\p{Extended_Pictographic}.!?…。．｡！？؟۔।॥։။።:;：；」』]/u;
const AFTER_STOP = /[\s\p{Pe}\p{Pf}\p{Pi}\p{Cf}\p{M}\p{Emoji_Modifier}\p{Regional_Indicator}"'’”»)\]]/u;

/** Only 30 marks after one letter are kept (UAX #15 §13), because it takes quadratic time to sort many of them. */
const MARKS = /(\p{M}{30})\p{M}+/gu;

/** `String.normalize` in linear time. */
export function normalizedForm(text: string, form: "NFC" | "NFKC" | "NFKD"): string {
  return text.replace(MARKS, "$1").normalize(form);
}

/** Only the letters and digits of a text, in lower case, for comparisons. */
export function normalized(text: string): string {
  return normalizedForm(text, "NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/**
 * The beginnings of the longer words of a text, or pairs of characters in scripts without spaces. They show
 * the topic.
 */
export function stemsOf(text: string): Set<string> {
  const stems = new Set<string>();
  for (const word of normalized(text).split(" ")) {
    if (/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/u.test(word)) {
      const signs = [...word];
      for (let at = 0; at + 1 < signs.length; at++) stems.add(`${signs[at]}${signs[at + 1]}`);
    } else if ([...word].length >= 5) stems.add([...word].slice(0, 5).join(""));
  }
  return stems;
}

/** The share of the first text's stems that the second text has too; 1 if the first has none. */
export function sharedStems(text: string, source: string): number {
  const stems = stemsOf(text);
  if (stems.size === 0) return 1;
  const known = stemsOf(source);
  let shared = 0;
  for (const stem of stems) if (known.has(stem)) shared++;
  return shared / stems.size;
}
