/**
 * The same text in one piece. V8 stores a joined text as its parts until somebody reads it, and most texts in rows
 * are not read soon. Parts take five times the memory, and the garbage collector has to visit each of them.
 */
export function flat(text: string): string {
  if (text !== "") read.last = text.charCodeAt(0);
  return text;
}

/** A compiler may leave out a reading that has no effect, so the character is stored. */
const read = { last: 0 };
