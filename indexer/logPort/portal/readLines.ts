/**
 * How a body ended. `whole`: it is complete, and `rest` is the text after the last newline. `cut`: the
 * connection broke, or the compressed data was incomplete. `full`: it exceeded the limit.
 */
export type BodyEnd = { kind: "whole"; rest: string } | { kind: "cut"; cause: unknown } | { kind: "full" };

export class LineTooLongError extends Error {}

/**
 * Yields the lines of a body as they arrive, without the newline, and returns how the body ended. Empty lines
 * are left out.
 *
 * @param maxLineBytes,maxBytes the longest line and the longest body that is read, in bytes
 * @throws LineTooLongError
 */
export async function* readLines(
  body: AsyncIterable<Uint8Array>,
  maxLineBytes: number,
  maxBytes: number,
): AsyncGenerator<string, BodyEnd> {
  let pieces: Buffer[] = [];
  let held = 0;
  let total = 0;
  const iterator = body[Symbol.asyncIterator]();
  try {
    for (;;) {
      let next: IteratorResult<Uint8Array>;
      try {
        next = await iterator.next();
      } catch (cause) {
        return { kind: "cut", cause };
      }
      if (next.done) break;
      const piece = Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength);
      total += piece.length;
      let start = 0;
      for (let end = piece.indexOf(10); end >= 0; end = piece.indexOf(10, start)) {
        const line = Buffer.concat([...pieces, piece.subarray(start, end)]);
        if (line.length > maxLineBytes) throw new LineTooLongError();
        pieces = [];
        held = 0;
        start = end + 1;
        if (line.length > 0) yield line.toString();
      }
      if (start < piece.length) pieces.push(piece.subarray(start));
      held += piece.length - start;
      if (held > maxLineBytes) throw new LineTooLongError();
      if (total > maxBytes) return { kind: "full" };
    }
    return { kind: "whole", rest: Buffer.concat(pieces).toString() };
  } finally {
    // When the reader stops early, the connection is closed.
    await iterator.return?.().catch(() => {});
  }
}
