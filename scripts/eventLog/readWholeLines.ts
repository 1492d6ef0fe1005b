import { createReadStream } from "node:fs";
import { wholeLines } from "tallystick-derive/wholeLines";

/** The number of bytes of one read. With this number, reading costs less than splitting into lines. */
const CHUNK = 1 << 20;

/**
 * Reads a file, or standard input for `-`, in pieces that consist of whole lines.
 *
 * @param most reads this many bytes of a file, and no more
 * @throws TallystickError `unreadable_file`, or `line_too_long`
 */
export async function* readWholeLines(file: string, most?: number): AsyncGenerator<string> {
  if (most === 0) return;
  // The file is opened when the first line is read. So an error of opening it goes to the reader and does not
  // end the process.
  const input =
    file === "-"
      ? process.stdin
      : createReadStream(file, { highWaterMark: CHUNK, ...(most !== undefined && { end: most - 1 }) });
  input.setEncoding("utf8");
  yield* wholeLines(file, input as AsyncIterable<string>);
}
