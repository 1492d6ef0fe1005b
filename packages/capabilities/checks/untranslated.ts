/** Groups of languages that share so many words that a shared word proves nothing. */
const FAMILIES = ["da no sv", "es pt it ro fr", "ru uk bg", "nl de", "zh ja"].map((family) =>
  family.split(" "),
);

/** The fewest words for a meaningful share. */
const MIN_WORDS = 8;

/**
 * Words of at least four letters that are written in lower case. Names begin with a capital letter and may
 * stay untranslated.
 */
function plainWords(text: string): string[] {
  return text.match(/(?<![\p{L}\p{N}@/.:_-])\p{Ll}{4,}(?![\p{L}\p{N}@/_-])/gu) ?? [];
}

/** The least number of words at which capital letters on all words show a title. */
const MIN_TITLE = 6;

/**
 * A translation without the names of its source: words in Latin letters with a capital letter or a digit. A sentence in
 * another script may have more letters in names of products than in all of its other words.
 */
export function withoutNames(text: string, source: string): string {
  const word = /[\p{Script=Latin}\p{N}][\p{Script=Latin}\p{N}'’._-]*/gu;
  const isName = (one: string): boolean => /[\p{Lu}\p{N}]/u.test(one);
  const words = source.match(word) ?? [];
  const names = words.filter(isName);
  // If all words of a longer text have capital letters, these do not show which words are names.
  if (words.length >= MIN_TITLE && names.length === words.length) return text;
  const known = new Set(names);
  const rest = text.replace(word, (one) => (known.has(one) ? " " : one));
  return /\p{L}/u.test(rest) ? rest : text;
}

/**
 * The share of a translation's words that are unchanged from the source. It is 0 if the text is short, or if the
 * languages share many words. In an Italian text the share of English loan words is about 0.1, and rarely more.
 */
export function untranslatedShare(text: string, source: string, from: string, to: string): number {
  if (from === to || FAMILIES.some((family) => family.includes(from) && family.includes(to))) return 0;
  const words = plainWords(text);
  if (words.length < MIN_WORDS) return 0;
  const known = new Set(plainWords(source));
  return words.filter((word) => known.has(word)).length / words.length;
}
