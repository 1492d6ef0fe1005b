import { isInLanguage } from "./detectLanguage.ts";

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
/** Words that are also plain terms: a worst case, a perfect number, outstanding shares. Alone they prove nothing. */
const TERMS = new Set("perfect outstanding worst broken garbage brilliant joy useless".split(" "));
const NEGATION =
  /\b(not|no|never|hardly|barely|nothing|nobody|none|neither|nor|cannot|dont|didnt|isnt|wasnt|without|but|however|although|though|despite|except|unless|until|if|would|far from|less than|too)\b|n't\b/i;

const WHO = "(?:you|u|ya)";
const ARE = "(?: are|'re| r)";
const KIND = "(?:(?:an?|such an?|the|complete|total|fucking|stupid|absolute|utter) )*";
/** Nouns that only insult, and nouns that are also other words: "you trash old files" is no insult. */
const INSULTS = new RegExp(
  `\\b(${WHO}(?:${ARE})? ${KIND}(?:idiot|moron|scum|imbecile)s?(?!')|${WHO}${ARE} ${KIND}(?:trash|pig|loser)s?(?=\\s*(?:,|and\\b|$))|shut up,? (?:you )?(?:idiot|moron)|fuck you|piece of shit|i will (?:kill|hurt) you|i will find you,? and [^.!?]{0,40}(?:regret|kill|hurt|die|suffer))\\b|(?:^|,)\\s{0,9}(?:${WHO} ${KIND}(?:trash|pig|loser)s?(?=\\s*(?:,|$))|(?:(?:go|just|please) )*(?:kill yourself|go die)(?=\\s*(?:,|you\\b|$)))`,
  "i",
);

/** Words of a text that tells what others said. */
const REPORT = /\b(said|says|say|saying|called|calls|calling|told|wrote|shouted|word|phrase|quote)\b/i;

/** Words before an insult that may turn it around: "I do not think you are an idiot". */
const DOUBT = /\b(?:if|never|not|nobody)\b|n't\b/i;

/**
 * Words that make the insult somebody else's, or a comparison: "people call you an idiot", "as though you are a moron".
 */
const OF_OTHERS =
  /\b(?:they|he|she|it|others|people|some|who) (?:may |might |will |could )?(?:call|think|believe|treat|make)s?\b|\b(?:like|as if|as though)\s*$/i;

/**
 * The clear sentiment of an English text: it has at least two different words of one kind, none of the other kind, and
 * no negation. A text in another language may have the same words.
 */
export function plainSentiment(text: string): "positive" | "negative" | undefined {
  const straight = text.replace(/[’ʼ]/g, "'");
  if (NEGATION.test(straight) || !isInLanguage(text, "en", 1)) return undefined;
  const words = straight.toLowerCase().match(/[a-z']+/g) ?? [];
  const found = (known: Set<string>): string[] => [...new Set(words)].filter((word) => known.has(word));
  const [positive, negative] = [found(POSITIVE), found(NEGATIVE)];
  const isPlain = (own: string[], other: string[]): boolean =>
    own.length >= 2 && other.length === 0 && own.some((word) => !TERMS.has(word));
  if (isPlain(positive, negative)) return "positive";
  return isPlain(negative, positive) ? "negative" : undefined;
}

/** Whether an English text contains plain insults or threats. Quotations and reports do not count. */
export function isPlainlyToxic(text: string): boolean {
  const straight = text.replace(/[’ʼ]/g, "'");
  if (/["“”„«»‘‹›「」]/.test(text) || REPORT.test(straight)) return false;
  return straight.split(/[.!?;\n]/).some((sentence) => {
    const at = sentence.search(INSULTS);
    const before = sentence.slice(0, Math.max(0, at));
    return at >= 0 && !DOUBT.test(before) && !OF_OTHERS.test(before);
  });
}
