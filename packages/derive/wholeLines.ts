import { TallystickError } from "tallystick-protocol/errors";

/**
 * The longest line that is read, in characters. An entry of a ledger is far shorter. A file without line
 * breaks is no log, and would fill the memory.
 */
const MAX_LINE_LENGTH = 4 << 20;

/**
 * Makes whole lines from pieces of text that may end anywhere. It gives many lines at a time, without their
 * last line break.
 *
 * @param name the name of the text in errors
 * @throws TallystickError `line_too_long`, or `unreadable_file` when the source of the pieces fails
 */
export async function* wholeLines(name: string, pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = "";
  let lines = 0;
  try {
    for await (const piece of pieces) {
      const end = piece.lastIndexOf("\n");
      if (end < 0) rest += piece;
      else {
        lines += breaksIn(piece);
        yield withoutReturns(rest + piece.slice(0, end));
        rest = piece.slice(end + 1);
      }
      if (rest.length > MAX_LINE_LENGTH) throw tooLong(name, lines + 1);
    }
    if (rest !== "") yield withoutReturns(rest);
  } catch (cause) {
    if (!(cause instanceof Error) || !("syscall" in cause)) throw cause;
    throw new TallystickError({
      code: "unreadable_file",
      message: `${name} cannot be read: ${cause.message}`,
      hint: "Give the path of a file, or - for standard input.",
      cause,
    });
  }
}

function breaksIn(text: string): number {
  let count = 0;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count++;
  return count;
}

function tooLong(name: string, line: number): TallystickError {
  return new TallystickError({
    code: "line_too_long",
    message: `Line ${line} of ${name} has more than ${MAX_LINE_LENGTH} characters.`,
    hint: "This is not an event log. The lines of an event log are JSON, and no line is longer than an entry of a ledger.",
  });
}

function withoutReturns(text: string): string {
  return text.includes("\r") ? text.replace(/\r$/gm, "") : text;
}
