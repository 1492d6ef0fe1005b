/** The longest line, in bytes. Settlement refuses entries of more than a megabyte. */
const MAX_LINE_BYTES = 16 << 20;

const NEWLINE = 0x0a;

/**
 * Reads the lines of a file as bytes, without their newlines, piece by piece. So the whole file is never in
 * memory. The last line may have no newline.
 *
 * @param onRead called after every piece with the number of bytes that were read
 * @throws RangeError when a line is too long
 */
export async function* linesOf(file: Blob, onRead: (bytes: number) => void): AsyncGenerator<Uint8Array[]> {
  const reader = file.stream().getReader();
  let rest = new Uint8Array(0);
  let read = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    read += value.length;
    const bytes = rest.length === 0 ? value : concat(rest, value);
    const lines: Uint8Array[] = [];
    let from = 0;
    for (let at = bytes.indexOf(NEWLINE); at !== -1; at = bytes.indexOf(NEWLINE, from)) {
      lines.push(bytes.subarray(from, at));
      from = at + 1;
    }
    rest = bytes.slice(from);
    if (rest.length > MAX_LINE_BYTES) throw new RangeError(`a line has more than ${MAX_LINE_BYTES} bytes`);
    onRead(read);
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [rest];
}

function concat(a: Uint8Array, b: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
