/** Makes a stranger's text safe for a terminal: escapes everything but plain ASCII, and cuts a long text. */
export function printable(text: string, most: number): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.replace(
    /[^\x20-\x7e…]/g,
    (it) => `\\u${(it.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
