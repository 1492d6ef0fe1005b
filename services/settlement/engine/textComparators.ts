/** The comparators that may call two texts equal, by their names in the rules and the ledger. */
export const COMPARATORS = ["exact", "normalised", "overlap/1"] as const;

export type ComparatorName = (typeof COMPARATORS)[number];

/**
 * The share of common words that `overlap/1` requires, in thousandths. It applies when the rules name none.
 */
export const DEFAULT_OVERLAP = 600;

/** Words that reverse the meaning of a sentence. Texts that differ in these words are never equal. */
const TURNS = /^(?:no|not|never|none|nothing|nobody|neither|nor|without|cannot|\p{L}+n['’]t)$/u;

/**
 * Whether two texts are equal by one comparator. Each comparator takes time in proportion to the length of
 * the texts.
 *
 * - `exact`: they are the same characters.
 * - `normalised`: the same letters and digits in the same order, whatever their case, form (NFKC), spaces and punctuation.
 * - `overlap/1`: at least `overlap` thousandths of their words are common to both (Dice's coefficient over
 *   words with their counts), and both have the same numbers and the same negations.
 */
export function areEqualTexts(
  a: string,
  b: string,
  comparator: ComparatorName,
  overlap = DEFAULT_OVERLAP,
): boolean {
  if (a === b) return true;
  if (comparator === "exact") return false;
  const [left, right] = [wordsOf(a), wordsOf(b)];
  if (comparator === "normalised") return left.join(" ") === right.join(" ") && left.length > 0;
  const counts = countsOf(left);
  let common = 0;
  for (const [word, count] of countsOf(right)) {
    const others = counts.get(word) ?? 0;
    if (count !== others && isDecisive(word)) return false;
    common += Math.min(count, others);
    counts.delete(word);
  }
  if ([...counts.keys()].some(isDecisive)) return false;
  return common > 0 && 2_000 * common >= overlap * (left.length + right.length);
}

/** Words and numbers. A number includes its sign and its point: 1.5 is not 15, and -3 is not 3. */
function wordsOf(text: string): string[] {
  return (
    text
      .normalize("NFKC")
      .toLowerCase()
      .match(/[-−]?\p{N}+(?:[.,:/]\p{N}+)*|\p{L}[\p{L}\p{M}\p{N}]*(?:['’]\p{L}+)*/gu) ?? []
  );
}

function countsOf(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return counts;
}

function isDecisive(word: string): boolean {
  return /\p{N}/u.test(word) || TURNS.test(word);
}
