/**
 * Reads the body of an answer; undefined if it is longer than `most` bytes. Then the rest is not read. The
 * signal of the request limits the time.
 */
export async function readBytes(response: Response, most: number): Promise<Buffer | undefined> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of (response.body ?? []) as AsyncIterable<Uint8Array>) {
    length += piece.length;
    if (length > most) return undefined;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}
