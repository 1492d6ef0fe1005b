import { createReadStream } from "node:fs";
import { TallystickError } from "../../protocol/errors.ts";

/** Read at once: large enough that the lines cost more than the reading. */
const CHUNK = 1 << 20;

/** The lines of a file, or of standard input for `-`, as they come. */
export async function* readLines(file: string): AsyncGenerator<string> {
  const input = file === "-" ? process.stdin : createReadStream(file, { highWaterMark: CHUNK });
  input.setEncoding("utf8");
  let rest = "";
  try {
    for await (const chunk of input) {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) yield withoutReturn(line);
    }
    if (rest !== "") yield withoutReturn(rest);
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

function withoutReturn(line: string): string {
  return line.endsWith("\r") ? line.slice(0, -1) : line;
}
