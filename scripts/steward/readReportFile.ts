import { readFile, stat } from "node:fs/promises";
import { TallystickError } from "tallystick-protocol/errors";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";

/** Largest report that is read, in bytes. */
const MAX_REPORT_BYTES = 4 * 1024 * 1024;

/**
 * A trust report from a file, as `tallystick trust-report ID --json` writes it.
 *
 * @throws TallystickError `unreadable_file`
 */
export async function readReportFile(file: string): Promise<unknown> {
  try {
    if ((await stat(file)).size > MAX_REPORT_BYTES) throw new Error("it is too large for a report");
    return readForeignJson(await readFile(file, "utf8"));
  } catch (cause) {
    throw new TallystickError({
      code: "unreadable_file",
      message: `${file} cannot be read as a report: ${cause instanceof Error ? cause.message : String(cause)}.`,
      hint: "Write it by tallystick trust-report ID --json > FILE.",
      cause,
    });
  }
}
