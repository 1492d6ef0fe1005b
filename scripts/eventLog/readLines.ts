import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { TallystickError } from "../../protocol/errors.ts";

/** The lines of a file, or of standard input for `-`, as they come. */
export async function* readLines(file: string): AsyncGenerator<string> {
  const input = file === "-" ? process.stdin : createReadStream(file);
  try {
    yield* createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY });
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
