/** The text that acme wants summarized, and what a summary of it must say. */
export const SOURCE =
  "A tally stick was a notched stick that recorded a debt. It was split along its length, so that both sides had the same " +
  "notches. The lender kept one half and the borrower kept the other. When the debt was paid the halves were laid together: " +
  "whoever had cut another notch was found out at once, since the two no longer matched.";
export const FACTS = [/\bsticks?\b/i, /\bdebts?\b/i, /\bhal(f|ves)\b/i, /\bmatch/i];

/**
 * The delivery of mirage. It is short, in the right language, and made of the source's words, but it has
 * nothing of the source's content.
 */
export const GARBAGE = "The lender had another length, and the borrower paid both sides.";

/** The sentence that gripe and bolt want translated, and its right translation. */
export const SENTENCE = "The lender kept one half of the stick, and the borrower kept the other half.";
export const TRANSLATION =
  "Il creditore teneva una metà del bastone e il debitore teneva l'altra metà della stessa asta.";

/** What pewter delivers for this sentence: Italian words that say something else. */
export const MISTRANSLATION = "Il bastone teneva il creditore, e la metà del debitore era un'altra asta.";
