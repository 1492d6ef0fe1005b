/**
 * The body of an answer; undefined when it is longer than so many bytes, of which the rest is not read. How long it may take is for
 * the signal of the request to say.
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
