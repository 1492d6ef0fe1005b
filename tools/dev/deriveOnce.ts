import { writeFileSync } from "node:fs";
import { snapshotOf } from "tallystick-derive/snapshot";
import { describeError } from "../../scripts/cli/printError.ts";
import { deriveLog } from "../../scripts/eventLog/deriveLog.ts";
import { readWholeLines } from "../../scripts/eventLog/readWholeLines.ts";

// Derives a log with the present code, in a new process. argv: the log, the file for the snapshot, and the
// options of `tallystick derive` as JSON.

const [log = "", result = "", options = "{}"] = process.argv.slice(2);
try {
  const { store } = await deriveLog(readWholeLines(log), JSON.parse(options));
  writeFileSync(result, JSON.stringify(snapshotOf(store)));
} catch (error) {
  process.stderr.write(`${describeError(error)}\n`);
  process.exitCode = 1;
}
