const MAX_LENGTH = 256;

/** In how many ways the bounded repetitions of a pattern may share out a text between them. */
const MAX_WAYS = 256;

const RULE =
  "must begin with ^ and have no groups, no |, one of *, + and {n,} at most, and few other repetitions of no fixed length";

/**
 * Why a regular expression of a stranger is not run: undefined when it takes time in proportion to the text. Such a one is
 * anchored at the start and has no groups, alternatives and references. Where a repetition has no fixed length the search
 * may come back and try another: one without a bound, and bounded ones of at most 256 ways in all (`a?` has 2, `a{1,20}` 20).
 */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  // A property by its name, an escape and a class are one sign each, so that what is in them is no operator.
  const bare = pattern
    .replace(/\\[pPu]\{[^{}]*\}/gu, "a")
    .replace(/\\./gu, "a")
    .replace(/\[[^\]]*\]/gu, "a");
  if (!bare.startsWith("^") || /[()|]/u.test(bare) || /\\[1-9kK]/u.test(pattern)) return RULE;
  let [unbounded, ways] = [0, 1];
  for (const [quantifier, least, comma, most] of bare.matchAll(/[*+?]|\{(\d+)(,?)(\d*)\}/gu)) {
    if (quantifier === "?") ways *= 2;
    else if (quantifier === "*" || quantifier === "+" || (comma && !most)) unbounded++;
    else if (comma) ways *= Number(most) - Number(least) + 1;
    if (Math.max(Number(least ?? 0), Number(most ?? 0)) > 999)
      return "must repeat nothing more than 999 times";
  }
  if (unbounded > 1 || ways > MAX_WAYS) return RULE;
  try {
    new RegExp(pattern, "u");
    return undefined;
  } catch (error) {
    return `is no regular expression: ${(error as Error).message.slice(0, 200)}`;
  }
}
