/** A token of TypeScript. In a template text, `value` has `…` for each placeholder. */
export type SourceToken = { kind: "text" | "name" | "mark"; value: string };

const NAME = /[\w$]+/y;
const SPACE = /(?:\s|\/\/[^\n]*|\/\*[\s\S]*?\*\/)+/y;
const REGULAR = /\/(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\n\\[])+\/[a-z]*/y;
const QUOTED = /"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'/y;
/** After one of these a slash begins a regular expression. */
const BEFORE_REGULAR = /^(?:[(,=:[!&|?{};+>]|return|typeof|case)$/;

/** The tokens of a source, in order, without comments, spaces and regular expressions. */
export function sourceTokens(source: string): SourceToken[] {
  const tokens: SourceToken[] = [];
  let at = 0;
  const take = (pattern: RegExp): string | undefined => {
    pattern.lastIndex = at;
    const found = pattern.exec(source)?.[0];
    if (found !== undefined) at += found.length;
    return found;
  };
  while (at < source.length) {
    if (take(SPACE) !== undefined) continue;
    const last = tokens.at(-1);
    const mayBeRegular = last === undefined || (last.kind !== "text" && BEFORE_REGULAR.test(last.value));
    if (source[at] === "/" && mayBeRegular && take(REGULAR) !== undefined) continue;
    const quoted = take(QUOTED);
    if (quoted !== undefined) tokens.push({ kind: "text", value: plain(quoted.slice(1, -1)) });
    else if (source[at] === "`") {
      const { text, end } = template(source, at);
      tokens.push({ kind: "text", value: plain(text) });
      at = end;
    } else {
      const name = take(NAME);
      if (name === undefined) at++;
      tokens.push({ kind: name === undefined ? "mark" : "name", value: name ?? (source[at - 1] as string) });
    }
  }
  return tokens;
}

/** Reads a template text from its backtick on, with `…` for each placeholder. */
function template(source: string, begin: number): { text: string; end: number } {
  let text = "";
  let at = begin + 1;
  while (source[at] !== "`") {
    if (source.startsWith("${", at)) {
      at = endOfPlace(source, at + 2);
      text += "…";
    } else if (source[at] === "\\") {
      text += source.slice(at, at + 2);
      at += 2;
    } else text += source[at++];
  }
  return { text, end: at + 1 };
}

/** The position after the brace that ends a placeholder. A placeholder may contain templates. */
function endOfPlace(source: string, begin: number): number {
  let depth = 1;
  let at = begin;
  while (depth > 0) {
    if (source[at] === "`") at = template(source, at).end;
    else {
      if (source[at] === "{") depth++;
      if (source[at] === "}") depth--;
      at++;
    }
  }
  return at;
}

const plain = (text: string): string =>
  text.replaceAll(/\\([\s\S])/g, (_, sign) => (sign === "n" ? " " : sign));
