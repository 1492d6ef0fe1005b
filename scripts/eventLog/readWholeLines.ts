import { createReadStream } from "node:fs";
import { wholeLines } from "tallystick-derive/wholeLines";

/** Read at once: large enough that the lines cost more than the reading. */
const CHUNK = 1 << 20;

/**
 * The text of a file, or of standard input for `-`, as it comes: whole lines, many at a time.
 *
 * @throws TallystickError `unreadable_file`, or `line_too_long`
 */
export async function* readWholeLines(file: string): AsyncGenerator<string> {
  // Opened when the first line is wanted. So an error in opening the file reaches the reader, and does not end the process.
  const input = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: CHUNK });
  input.setEncoding("utf8");
  yield* wholeLines(file, input as AsyncIterable<string>);
}
