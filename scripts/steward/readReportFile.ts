import { open } from "node:fs/promises";
import { TallystickError } from "tallystick-protocol/errors";
import { readForeignJson } from "tallystick-protocol/json/foreignJson";
import { readAtMost } from "../readAtMost.ts";

/** The largest report that is read, in bytes. */
const MAX_REPORT_BYTES = 4 * 1024 * 1024;

export const REPORT_HINT = "Write it by tallystick trust-report ID --json > FILE.";

/**
 * A trust report from a file, as `tallystick trust-report ID --json` writes it.
 *
 * @throws TallystickError `unreadable_file`
 */
export async function readReportFile(file: string): Promise<unknown> {
  try {
    const handle = await open(file, "r");
    try {
      const bytes = await readAtMost(handle, MAX_REPORT_BYTES);
      if (bytes === undefined) throw new Error("it is too large for a report");
      return readForeignJson(bytes.toString("utf8"));
    } finally {
      await handle.close();
    }
  } catch (cause) {
    throw new TallystickError({
      code: "unreadable_file",
      message: `${file} cannot be read as a report: ${cause instanceof Error ? cause.message : String(cause)}.`,
      hint: REPORT_HINT,
      cause,
    });
  }
}
