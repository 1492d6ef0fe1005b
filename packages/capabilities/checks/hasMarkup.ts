/**
 * Whether a text contains a tag of HTML or XML. It takes linear time: after the last `>` there can be no tag.
 */
export function hasMarkup(text: string): boolean {
  const start = text.search(/<\/?[a-z]/i);
  return start >= 0 && text.includes(">", start);
}
