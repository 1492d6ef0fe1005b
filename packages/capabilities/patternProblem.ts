const MAX_LENGTH = 256;

/** The most ways in which the bounded repetitions of a pattern may divide a text. */
const MAX_WAYS = 256;

const RULE =
  "must begin with ^ and have no groups and no |. It may have one *, + or {n,}, and few other repetitions of variable length";

/**
 * Why a stranger's regular expression is not run; undefined if it takes linear time. It must be anchored at the
 * start, without groups, alternatives and references. Repetitions of variable length cause backtracking, so only one
 * may be unbounded. The bounded ones may divide a text in at most 256 ways in all (`a?` in 2, `a{1,20}` in 20).
 */
export function patternProblem(pattern: string): string | undefined {
  if (pattern.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  const bare = bareForm(pattern);
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

/**
 * The most characters that a pattern of this kind compares with a text of some length. What follows a repetition of
 * variable length may be tried again for each length of the repetition.
 */
export function patternWork(pattern: string, length: number): number {
  let work = 1;
  const parts = [...bareForm(pattern).matchAll(/.(?:([*+?])|\{(\d+)(,?)(\d*)\})?\??/gsu)].reverse();
  for (const [, sign, lower = sign === undefined || sign === "+" ? "1" : "0", comma, upper] of parts) {
    const isOpen = sign === "*" || sign === "+" || (comma === "," && upper === "");
    const least = Math.min(length, Number(lower));
    const most = isOpen ? length : Math.min(length, sign === "?" ? 1 : Number(upper || lower));
    work = most + (most - least + 1) * work;
  }
  return work;
}

/**
 * A pattern in which a named property, an escape and a class are one letter each, so that nothing inside them counts as
 * an operator.
 */
function bareForm(pattern: string): string {
  return pattern
    .replace(/\\[pPu]\{[^{}]*\}/gu, "a")
    .replace(/\\./gu, "a")
    .replace(/\[[^\]]*\]/gu, "a");
}
