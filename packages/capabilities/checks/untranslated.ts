import { textLength } from "./textMeasures.ts";

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

const LATIN_WORD = /[\p{Script=Latin}\p{N}][\p{Script=Latin}\p{N}'’._-]*/gu;

/**
 * `LEAST_DUE` is the least share of the source's letters that are not in kept names. `LEAST_MADE` is the least number
 * of new letters in the translation for each of these letters.
 */
const [LEAST_DUE, LEAST_MADE] = [0.1, 0.5];

/**
 * A translation without the names of its source: words in Latin letters with a capital letter or a digit. A sentence in
 * another script may have more letters in names of products than in all other words. But in a title every word has a
 * capital letter. So the names are left out only if the translation has new letters for the rest of the source.
 */
export function withoutNames(text: string, source: string): string {
  const words = source.match(LATIN_WORD) ?? [];
  const names = new Set(words.filter((one) => /[\p{Lu}\p{N}]/u.test(one)));
  const said = new Set(words.map((one) => one.toLowerCase()));
  const kept = new Set<string>();
  const rest = text.replace(LATIN_WORD, (one) => {
    if (!names.has(one)) return one;
    kept.add(one);
    return " ";
  });
  const due = lettersIn(source.replace(LATIN_WORD, (one) => (kept.has(one) ? " " : one)));
  const made = lettersIn(rest.replace(LATIN_WORD, (one) => (said.has(one.toLowerCase()) ? " " : one)));
  return made > 0 && due >= LEAST_DUE * lettersIn(source) && made >= LEAST_MADE * due ? rest : text;
}

function lettersIn(text: string): number {
  return textLength(text.replace(/[^\p{L}]+/gu, ""));
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
