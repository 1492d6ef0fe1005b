/**
 * Reads the body of an answer; undefined if it is longer than `most` bytes. Then the rest is not read. This function
 * has no time limit of its own: give the request a signal.
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
