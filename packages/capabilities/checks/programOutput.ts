/**
 * Code that can keep a plain print statement from running, or from printing its text: early exits, other meanings of
 * print, text over several lines, and code that is made from text. In JavaScript also: loops, `await`, imports, and a
 * `return` outside of a function, which is an early exit.
 */
const UNCERTAIN: { [language: string]: RegExp } = {
  python:
    /exit|quit|raise|"""|'''|\\$|stdout|\bprint\s*=|def print|global print|builtins|exec|eval|import \*|(?:import|as|,) print\b|compile/m,
  javascript:
    /exit|throw|`|\/\*|\\$|stdout|console\.group|console\s*=|console\.log\s*=|eval|Function|while|\bfor\b|await|import|require|^(?:if\b.*\s)?return\b/m,
};

const STATEMENTS: { [language: string]: RegExp } = {
  python: /^print\((?:"([^"\\{}]*)"|'([^'\\{}]*)')\)\s*(?:#.*)?$/,
  javascript: /^console\.log\((?:"([^"\\]*)"|'([^'\\]*)')\);?\s*(?:\/\/.*)?$/,
};

/**
 * Lines that a program always prints if it succeeds. Each line comes from a statement that prints a plain string and
 * is outside of all blocks. When the output is not certain, no lines are returned.
 */
export function mustPrint(code: string, language: string): string[] {
  const statement = STATEMENTS[language];
  if (!statement || UNCERTAIN[language]?.test(code)) return [];
  const lines: string[] = [];
  let depth = 0;
  let isBranch = false;
  for (const line of code.split(/\r?\n/)) {
    const found = depth === 0 && !isBranch ? statement.exec(line) : null;
    // In JavaScript the statement after `if (…)` and `else` needs no brackets and no indentation.
    if (language === "javascript" && line.trim() !== "")
      isBranch = /\b(?:if|else)\b/.test(line.split(/[;{}]/).at(-1) ?? "");
    if (found) lines.push(found[1] ?? found[2] ?? "");
    depth = language === "javascript" || found === null ? depth + balance(line) : depth;
  }
  return lines;
}

/** The number of opening minus closing brackets, outside of simple strings. */
function balance(line: string): number {
  const bare = line.replace(/"[^"]*"|'[^']*'/g, "");
  return (bare.match(/[([{]/g)?.length ?? 0) - (bare.match(/[)\]}]/g)?.length ?? 0);
}
