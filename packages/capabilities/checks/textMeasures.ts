/** Signs of these scripts stand for several letters each: what a text is long in. */
const DENSE = /[\p{Script=Han}]/u;
const HALF_DENSE = /[\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** A text's length in letters of an alphabet: a Han sign counts as three, kana and hangul as two, space as none. */
export function textLength(text: string): number {
  let length = 0;
  for (const character of text) {
    if (/\s/u.test(character)) continue;
    length += DENSE.test(character) ? 3 : HALF_DENSE.test(character) ? 2 : 1;
  }
  return length;
}

/** Words, as runs of letters and digits; without spaces (Chinese, Japanese) every sign counts as half a word. */
export function countWords(text: string): number {
  let signs = 0;
  const spaced = text.replace(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]/gu, () => {
    signs++;
    return " ";
  });
  const words = spaced.match(/[\p{L}\p{N}]+(?:['’.-][\p{L}\p{N}]+)*/gu)?.length ?? 0;
  return words + Math.ceil(signs / 2);
}

/** Whether a text stops where a sentence may. French has a space before the last quotation mark. */
export function endsSentence(text: string): boolean {
  return /[.!?…。．！？؟۔।॥։።။។:;][\s\p{Pe}\p{Pf}\p{Pi}"'’”»)\]]*$/u.test(text.trim());
}

/** Letters and digits only, lower case: to compare texts without their dress. */
export function normalized(text: string): string {
  return text
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();
}

/** The beginnings of the longer words of a text (pairs of signs where there are no spaces): what it is about. */
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

/** Which share of the first text's stems the second one has too; 1 when the first has none. */
export function sharedStems(text: string, source: string): number {
  const stems = stemsOf(text);
  if (stems.size === 0) return 1;
  const known = stemsOf(source);
  let shared = 0;
  for (const stem of stems) if (known.has(stem)) shared++;
  return shared / stems.size;
}
