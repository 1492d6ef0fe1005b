/**
 * Why a text is not what it looks like; undefined when it is. It must have no control characters, no line breaks, no
 * invisible signs, and no signs that change the direction of writing. It must have only plain spaces. Each character
 * must have its plain form (NFKC): no full-width letter, no ligature. One word must not mix letters of two alphabets,
 * because some of them look alike.
 */
export function textComplaint(text: string): string | undefined {
  if (/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}\p{Cn}]/u.test(text))
    return "must have no control or invisible characters";
  if (/[^\S ]/u.test(text)) return "must have no spaces but the plain one";
  if (text.normalize("NFKC") !== text) return "must be written in plain letters (Unicode NFKC)";
  if (/\p{Default_Ignorable_Code_Point}|\p{Variation_Selector}/u.test(text))
    return "must have no invisible characters";
  for (const [word] of text.matchAll(/[\p{L}\p{M}]+/gu)) {
    const scripts = [
      /\p{Script=Latin}/u,
      /\p{Script=Cyrillic}/u,
      /\p{Script=Greek}/u,
      /\p{Script=Armenian}/u,
      /\p{Script=Cherokee}/u,
    ];
    if (scripts.filter((script) => script.test(word)).length > 1)
      return "must not mix alphabets within a word";
  }
  return undefined;
}

/** Characters that have a meaning for shells. */
export const SHELL_SIGNS = /[;&|<>`$(){}[\]*?!#~^\\"'\n\r]/;

/** The small iota below a Greek letter. It looks like an accent, but its capital is a letter: Ι. */
const IOTA_SUBSCRIPT = /\u0345/g;

/** What a text looks like: its {@link skeleton}, and the same without iota subscripts if it has some. */
export type Looks = readonly [string, ...string[]];

export function looksOf(text: string): Looks {
  const plain = text.normalize("NFKD");
  const bare = plain.replace(IOTA_SUBSCRIPT, "");
  // A disk that ignores case takes ᾳ as αι. To a reader it looks like α.
  return bare === plain ? [skeleton(text)] : [skeleton(text), skeleton(bare)];
}

/**
 * Whether a rule that forbids one text also forbids the other, because they look the same, or because a disk that ignores
 * case takes them as the same.
 */
export function isAlike(
  one: Looks,
  other: Looks,
  compare: (one: string, other: string) => boolean = (a, b) => a === b,
): boolean {
  return compare(one[0], other[0]) || compare(one.at(-1) as string, other.at(-1) as string);
}

/** A text without its case, accents and compatibility forms. Rules that forbid compare this form: {@link isAlike}. */
export function skeleton(text: string): string {
  // Some letters have the same capitals as two others, such as ß. A disk that ignores case takes them as the same. ẞ has
  // these capitals only after it is a small letter.
  const small = text.normalize("NFKD").replace(IOTA_SUBSCRIPT, "ι").replace(/\p{M}/gu, "").toLowerCase();
  const folded = small.toUpperCase().toLowerCase();
  return [...folded].map((sign) => LOOKALIKES[sign] ?? sign).join("");
}

/** The Latin letter that a letter of another alphabet, or a digit, looks like (all in lower case). */
const LOOKALIKES: { readonly [sign: string]: string } = {
  а: "a",
  в: "b",
  с: "c",
  ԁ: "d",
  е: "e",
  һ: "h",
  і: "i",
  ј: "j",
  к: "k",
  ӏ: "l",
  м: "m",
  н: "h",
  о: "o",
  р: "p",
  ԛ: "q",
  ѕ: "s",
  т: "t",
  у: "y",
  ѵ: "v",
  ԝ: "w",
  х: "x",
  α: "a",
  β: "b",
  ε: "e",
  η: "n",
  ι: "i",
  κ: "k",
  ν: "v",
  ο: "o",
  ρ: "p",
  τ: "t",
  υ: "u",
  χ: "x",
  ς: "σ",
  ı: "i",
  ɡ: "g",
  "0": "o",
  "1": "l",
};
