import { LogReader } from "tallystick-derive/logReader";
import { readWholeLines } from "../../../scripts/eventLog/readWholeLines.ts";

// Runs as a separate process each time, like `deriveProgram.ts`. Reads and parses a log, and derives nothing. Argument: FILE.
const [file = "-"] = process.argv.slice(2);
const before = process.cpuUsage();
const reader = new LogReader();
let events = 0;
for await (const text of readWholeLines(file)) {
  for (const line of text.split("\n")) if (reader.read(line) !== undefined) events++;
}
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify({ events, cpuSeconds: (user + system) / 1_000_000 }));
