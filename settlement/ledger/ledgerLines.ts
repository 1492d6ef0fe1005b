import { open } from "node:fs/promises";

/** One line of a ledger file. Offsets are in bytes; `end` is behind the newline. */
export type FileLine = { text: string; start: number; end: number; terminated: boolean };

const NEWLINE = 0x0a;

/**
 * The lines of a ledger file, in groups as they are read, so that reading costs no promise a line.
 *
 * Bytes are read as Latin-1: a canonical line is pure ASCII, and any other byte comes out as a character that no
 * canonical line has. A last line without newline comes with `terminated: false`.
 *
 * @param end stop before this byte
 * @param from begin at this byte, where a line begins
 */
export async function* ledgerLines(
  filePath: string,
  end = Number.POSITIVE_INFINITY,
  from = 0,
): AsyncGenerator<FileLine[]> {
  if (end <= from) return;
  let rest = "";
  let start = from;
  for await (const chunk of pieces(filePath, from, end)) {
    const lines: FileLine[] = [];
    let next = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, next)) {
      const text = rest + chunk.toString("latin1", next, at);
      rest = "";
      next = at + 1;
      const lineEnd = start + text.length + 1;
      lines.push({ text, start, end: lineEnd, terminated: true });
      start = lineEnd;
    }
    rest += chunk.toString("latin1", next);
    if (lines.length > 0) yield lines;
  }
  if (rest !== "") yield [{ text: rest, start, end: start + rest.length, terminated: false }];
}

/** The bytes [from, end) of a file, in one buffer that is filled again for every piece. */
async function* pieces(filePath: string, from: number, end: number): AsyncGenerator<Buffer> {
  const file = await open(filePath, "r");
  try {
    const buffer = Buffer.allocUnsafeSlow(1 << 16);
    for (let at = from; at < end; ) {
      const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, end - at), at);
      if (bytesRead === 0) return;
      at += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
