/**
 * The same text in one piece. V8 keeps a text that was put together as its parts until somebody reads it, and most texts in rows
 * are not read soon: in parts they take five times the memory, and the garbage collector goes through all of them.
 */
export function flat(text: string): string {
  if (text !== "") read.last = text.charCodeAt(0);
  return text;
}

/** Without a trace of the reading, a compiler may leave it out. */
const read = { last: 0 };
