/** What makes a plain print statement uncertain: other ways out, other meanings of print, text over several lines. */
const UNCERTAIN: { [language: string]: RegExp } = {
  python:
    /exit|quit|raise|"""|'''|\\$|stdout|\bprint\s*=|def print|global print|builtins|exec|eval|import \*|compile/m,
  javascript:
    /exit|throw|`|\\$|stdout|console\s*=|console\.log\s*=|eval|Function|while|\bfor\b|await|import|require/m,
};

const STATEMENTS: { [language: string]: RegExp } = {
  python: /^print\((?:"([^"\\{}]*)"|'([^'\\{}]*)')\)\s*(?:#.*)?$/,
  javascript: /^console\.log\((?:"([^"\\]*)"|'([^'\\]*)')\);?\s*(?:\/\/.*)?$/,
};

/**
 * Lines that a program prints whenever it succeeds: of statements that stand outside of every block and print a plain
 * string. Says nothing rather than something doubtful.
 */
export function mustPrint(code: string, language: string): string[] {
  const statement = STATEMENTS[language];
  if (!statement || UNCERTAIN[language]?.test(code)) return [];
  const lines: string[] = [];
  let depth = 0;
  for (const line of code.split(/\r?\n/)) {
    const found = depth === 0 ? statement.exec(line) : null;
    if (found) lines.push(found[1] ?? found[2] ?? "");
    depth = language === "javascript" || found === null ? depth + balance(line) : depth;
  }
  return lines;
}

/** Brackets opened less those closed, outside of simple strings. */
function balance(line: string): number {
  const bare = line.replace(/"[^"]*"|'[^']*'/g, "");
  return (bare.match(/[([{]/g)?.length ?? 0) - (bare.match(/[)\]}]/g)?.length ?? 0);
}
