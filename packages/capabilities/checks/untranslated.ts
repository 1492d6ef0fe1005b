/** Languages that share so many words that shared words say nothing. */
const FAMILIES = ["da no sv", "es pt it ro fr", "ru uk bg", "nl de", "zh ja"].map((family) =>
  family.split(" "),
);

/** Least words of a text for their shares to say something. */
const LEAST_WORDS = 8;

/** Words of four letters and more, in lower case as they stand: names begin with a capital letter and stay. */
function plainWords(text: string): string[] {
  return text.match(/(?<![\p{L}\p{N}@/.:_-])\p{Ll}{4,}(?![\p{L}\p{N}@/_-])/gu) ?? [];
}

/**
 * Which share of a translation's words is still as in the source: 0 when the text is short, or when the languages share
 * many words anyway. English loan words make 0.1 of an Italian text, seldom more.
 */
export function untranslatedShare(text: string, source: string, from: string, to: string): number {
  if (from === to || FAMILIES.some((family) => family.includes(from) && family.includes(to))) return 0;
  const words = plainWords(text);
  if (words.length < LEAST_WORDS) return 0;
  const known = new Set(plainWords(source));
  return words.filter((word) => known.has(word)).length / words.length;
}
