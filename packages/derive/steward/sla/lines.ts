/** Splits a row's text into its lines, which are the items of a list. */
export function linesOf(text = ""): string[] {
  return text === "" ? [] : text.split("\n");
}

export function withLine(text: string, line: string): string {
  return [...linesOf(text), line].join("\n");
}

export function withoutLine(text: string, line: string): string {
  return linesOf(text)
    .filter((it) => it !== line)
    .join("\n");
}
