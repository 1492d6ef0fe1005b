import { createReadStream } from "node:fs";
import { wholeLines } from "tallystick-derive/wholeLines";

/** Bytes of one read. Reading is then cheaper than splitting into lines. */
const CHUNK = 1 << 20;

/**
 * Reads a file, or standard input for `-`, in pieces that consist of whole lines.
 *
 * @throws TallystickError `unreadable_file`, or `line_too_long`
 */
export async function* readWholeLines(file: string): AsyncGenerator<string> {
  // The file is opened when the first line is wanted. An error in opening it then reaches the reader, and
  // does not end the process.
  const input = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: CHUNK });
  input.setEncoding("utf8");
  yield* wholeLines(file, input as AsyncIterable<string>);
}
