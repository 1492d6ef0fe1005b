import { createReadStream } from "node:fs";
import { TallystickError } from "tallystick-protocol/errors";

/** Read at once: large enough that the lines cost more than the reading. */
const CHUNK = 1 << 20;

/**
 * The longest line that is read. An entry of a ledger is far shorter; a file without line breaks is something else, and
 * would fill the memory.
 */
const LONGEST_LINE = 4 << 20;

/**
 * The text of a file, or of standard input for `-`, as it comes: whole lines, many at a time.
 *
 * @throws TallystickError `unreadable_file`, or `line_too_long`
 */
export async function* readWholeLines(file: string): AsyncGenerator<string> {
  const input = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: CHUNK });
  input.setEncoding("utf8");
  let rest = "";
  try {
    for await (const chunk of input as AsyncIterable<string>) {
      const end = chunk.lastIndexOf("\n");
      if (end < 0) rest += chunk;
      else {
        yield withoutReturns(rest + chunk.slice(0, end));
        rest = chunk.slice(end + 1);
      }
      if (rest.length > LONGEST_LINE) throw tooLong(file);
    }
    if (rest !== "") yield withoutReturns(rest);
  } catch (cause) {
    if (!(cause instanceof Error) || !("code" in cause) || "syscall" in cause === false) throw cause;
    throw new TallystickError({
      code: "unreadable_file",
      message: `${file} cannot be read: ${cause.message}`,
      hint: "Give the path of a file, or - for standard input.",
      cause,
    });
  }
}

function tooLong(file: string): TallystickError {
  return new TallystickError({
    code: "line_too_long",
    message: `${file} has a line of more than ${LONGEST_LINE} characters.`,
    hint: "This is no log of events: those are lines of JSON, none of them longer than an entry of a ledger.",
  });
}

function withoutReturns(text: string): string {
  return text.includes("\r") ? text.replace(/\r$/gm, "") : text;
}
