/**
 * Reads the bytes of an answer up to a limit, and leaves the rest unread. An answer may have no end.
 *
 * @returns one byte more than the limit, or a part more, when the answer is longer
 */
export async function readBytes({ body }: Response, most: number): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let length = 0;
  const reader = body?.getReader();
  while (reader !== undefined && length <= most) {
    const { value, done } = await reader.read();
    if (done) break;
    parts.push(value);
    length += value.length;
  }
  if (length > most) await reader?.cancel();
  const bytes = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

/** The text of an answer; undefined when it is longer than the limit, in bytes. */
export async function readText(response: Response, most: number): Promise<string | undefined> {
  const bytes = await readBytes(response, most);
  return bytes.length > most ? undefined : new TextDecoder().decode(bytes);
}
