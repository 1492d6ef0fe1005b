/**
 * A text as one word of a POSIX shell. Readers paste commands into a terminal, and a part of a command may come from a link:
 * the address of a node may contain `;` and `$`.
 */
export function shellWord(text: string): string {
  return /^[A-Za-z0-9_./:@%+=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
