/** English words with a clear sentiment. A longer list would be wrong more often. */
const POSITIVE = new Set(
  "excellent wonderful amazing fantastic delightful superb brilliant perfect outstanding love loved loving happy delighted thrilled awesome flawless magnificent joy beautiful".split(
    " ",
  ),
);
const NEGATIVE = new Set(
  "terrible horrible awful disgusting dreadful atrocious worst hate hated useless broken rude disappointing disappointed garbage ruined pathetic miserable appalling unacceptable".split(
    " ",
  ),
);
const NEGATION =
  /\b(not|no|never|hardly|nothing|n't|don't|didn't|isn't|wasn't|without|but|however|although|despite)\b|n't\b/i;

const INSULTS =
  /\b(you (are |'re )?(a |an )?(complete |total |fucking |stupid )*(idiot|moron|scum|trash|pig|loser|imbecile)s?|kill yourself|go die|shut up,? (you )?(idiot|moron)|fuck you|piece of shit|i will (kill|hurt|find) you)\b/gi;

/**
 * The clear sentiment of an English text: it has at least two words of one kind, none of the other kind, and
 * no negation.
 */
export function plainSentiment(text: string): "positive" | "negative" | undefined {
  if (NEGATION.test(text)) return undefined;
  const words = text.toLowerCase().match(/[a-z']+/g) ?? [];
  const positive = words.filter((word) => POSITIVE.has(word)).length;
  const negative = words.filter((word) => NEGATIVE.has(word)).length;
  if (positive >= 2 && negative === 0) return "positive";
  return negative >= 2 && positive === 0 ? "negative" : undefined;
}

/** Whether an English text contains plain insults or threats. Quotations do not count. */
export function isPlainlyToxic(text: string): boolean {
  return !/["“”«»]/.test(text) && (text.match(INSULTS)?.length ?? 0) > 0;
}
