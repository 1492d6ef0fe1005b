import { open } from "node:fs/promises";
import { TallystickError } from "tallystick-protocol/errors";

/**
 * One line of a ledger file, without its newline. Offsets are in bytes; `end` is after the newline. The line's `bytes`
 * are valid until the caller asks {@link ledgerLines} for its next group of lines.
 */
export class FileLine {
  readonly bytes: Buffer;
  readonly start: number;
  readonly terminated: boolean;

  constructor(bytes: Buffer, start: number, terminated: boolean) {
    this.bytes = bytes;
    this.start = start;
    this.terminated = terminated;
  }

  get end(): number {
    return this.start + this.bytes.length + Number(this.terminated);
  }

  /**
   * The bytes as Latin-1 text. A canonical line is pure ASCII. Any other byte becomes a character that no
   * canonical line has.
   */
  get text(): string {
    return this.bytes.toString("latin1");
  }
}

const NEWLINE = 0x0a;

/** The number of bytes that are read at a time. */
const PIECE = 1 << 18;

/**
 * Replaces {@link PIECE} in callers that do much work on each line. It is small, so that the garbage collector can free
 * the objects of one group of lines early.
 */
export const SMALL_PIECE = 1 << 16;

/**
 * The limit for the length of a line, in bytes. Entries are far shorter (`MAX_ENTRY_BYTES`), also an entry that a crash
 * left unfinished. A line of this length fits into memory. The limit is checked after each piece, so a line that is
 * read may be longer by less than one piece.
 */
export const MAX_LINE_BYTES = 64 << 20;

/** A line has more than {@link MAX_LINE_BYTES}. `start` is the byte at which it begins. */
export class LineTooLongError extends TallystickError {
  constructor(start: number) {
    super({
      code: "line_too_long",
      message: `The line that begins at byte ${start} has more than ${MAX_LINE_BYTES} bytes.`,
      hint: "A ledger has one entry on each line. This file is probably no ledger.",
    });
  }
}

/**
 * The lines of a ledger file, in groups as they are read, so that reading needs no promise for each line.
 *
 * A last line without newline comes with `terminated: false`.
 *
 * @param end stop before this byte
 * @param from begin at this byte, where a line begins
 * @param pieceBytes how much is read at a time
 * @throws LineTooLongError
 */
export async function* ledgerLines(
  filePath: string,
  end = Number.POSITIVE_INFINITY,
  from = 0,
  pieceBytes = PIECE,
): AsyncGenerator<FileLine[]> {
  if (end <= from) return;
  let rest: Buffer[] = [];
  let restBytes = 0;
  let start = from;
  for await (const chunk of pieces(filePath, from, end, pieceBytes)) {
    const lines: FileLine[] = [];
    let next = 0;
    for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, next)) {
      let bytes = chunk.subarray(next, at);
      if (rest.length > 0) {
        bytes = Buffer.concat([...rest, bytes]);
        rest = [];
        restBytes = 0;
      }
      next = at + 1;
      lines.push(new FileLine(bytes, start, true));
      start += bytes.length + 1;
    }
    // A copy, because the chunk will be filled again.
    if (next < chunk.length) rest.push(Buffer.from(chunk.subarray(next)));
    restBytes += chunk.length - next;
    if (lines.length > 0) yield lines;
    if (restBytes > MAX_LINE_BYTES) throw new LineTooLongError(start);
  }
  if (rest.length > 0) yield [new FileLine(Buffer.concat(rest), start, false)];
}

/** The bytes [from, end) of a file. There are two buffers: while one is used, the other is filled. */
async function* pieces(filePath: string, from: number, end: number, size: number): AsyncGenerator<Buffer> {
  const file = await open(filePath, "r");
  const buffers = [Buffer.allocUnsafeSlow(size), Buffer.allocUnsafeSlow(size)] as const;
  const read = (turn: number, at: number) => {
    const reading = file.read(buffers[turn % 2] as Buffer, 0, Math.min(size, end - at), at);
    // The read is awaited below. Until then, this `catch` prevents an unhandled rejection.
    reading.catch(() => {});
    return reading;
  };
  let next = read(0, from);
  try {
    for (let turn = 0, at = from; at < end; turn++) {
      const { bytesRead, buffer } = await next;
      if (bytesRead === 0) return;
      at += bytesRead;
      next = read(turn + 1, at);
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await next.catch(() => {});
    await file.close();
  }
}
