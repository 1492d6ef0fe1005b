/** Whether a text has a tag of HTML or XML in it, in time by its length: what no `>` follows is no tag, wherever it begins. */
export function hasMarkup(text: string): boolean {
  const start = text.search(/<\/?[a-z]/i);
  return start >= 0 && text.includes(">", start);
}
