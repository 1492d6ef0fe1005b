/** A stranger's text in a terminal: what is not plain ASCII is escaped, and a long one is cut. */
export function printable(text: string, most: number): string {
  const cut = text.length > most ? `${text.slice(0, most)}…` : text;
  return cut.replace(
    /[^\x20-\x7e…]/g,
    (it) => `\\u${(it.codePointAt(0) ?? 0).toString(16).padStart(4, "0")}`,
  );
}
