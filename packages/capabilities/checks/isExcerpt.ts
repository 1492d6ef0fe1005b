import { normalizedForm } from "./textMeasures.ts";

/** The number of words in a row that are compared. Six equal words in a row are not a coincidence. */
const RUN = 6;

/**
 * The share of an excerpt's words that must be copied, and the greatest length of the copied part of the source,
 * relative to the excerpt. An excerpt may add or change a few words.
 */
const [COPIED, STRETCH] = [0.8, 1.35];

/**
 * The words of a text in lower case, without punctuation. Chinese and Japanese have no spaces, so there each
 * character is a word.
 */
function tokensOf(text: string): string[] {
  const tokens = normalizedForm(text, "NFKC")
    .toLowerCase()
    .match(/[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]|[\p{L}\p{N}]+/gu);
  return tokens ?? [];
}

/**
 * Whether a text is one continuous piece of its source, with at most a few words changed. Most of its words must be in
 * runs of six words that the source also has, and these runs must be close together in the source. Sentences picked
 * from many places are not an excerpt. The check takes linear time.
 */
export function isExcerpt(text: string, source: string): boolean {
  const [own, others] = [tokensOf(text), tokensOf(source)];
  if (own.length < 2 * RUN) return false;
  const places = new Map<string, number>();
  for (let at = 0; at + RUN <= others.length; at++) {
    const run = others.slice(at, at + RUN).join(" ");
    if (!places.has(run)) places.set(run, at);
  }
  const copied = new Set<number>();
  const found: number[] = [];
  for (let at = 0; at + RUN <= own.length; at++) {
    const place = places.get(own.slice(at, at + RUN).join(" "));
    if (place === undefined) continue;
    for (let word = at; word < at + RUN; word++) copied.add(word);
    found.push(place);
  }
  if (copied.size < COPIED * own.length) return false;
  // A few runs may also appear elsewhere in the source, so the outer 5 % on each side are ignored.
  found.sort((a, b) => a - b);
  const trimmed = found.slice(Math.floor(found.length * 0.05), Math.ceil(found.length * 0.95));
  const span = (trimmed.at(-1) ?? 0) - (trimmed[0] ?? 0) + RUN;
  return span <= STRETCH * own.length;
}
