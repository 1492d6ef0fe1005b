/** What acme wants to have summarized, and what a summary of it has to say. */
export const SOURCE =
  "A tally stick was a notched stick that recorded a debt. It was split along its length, so that both sides had the same " +
  "notches. The lender kept one half and the borrower kept the other. When the debt was paid the halves were laid together: " +
  "whoever had cut another notch was found out at once, since the two no longer matched.";
export const FACTS = [/\bsticks?\b/i, /\bdebts?\b/i, /\bhal(f|ves)\b/i, /\bmatch/i];

/** What mirage answers: short, of the source's own words, in its language, and nothing that the source says. */
export const GARBAGE = "The lender had another length, and the borrower paid both sides.";

/** What gripe wants to have translated, and what a good translator writes. */
export const SENTENCE = "The lender kept one half of the stick, and the borrower kept the other half.";
export const TRANSLATION =
  "Il creditore teneva una metà del bastone e il debitore teneva l'altra metà della stessa asta.";
