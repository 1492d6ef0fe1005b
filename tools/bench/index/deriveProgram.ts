import { snapshotOf } from "tallystick-derive/snapshot";
import { deriveLog } from "../../../scripts/eventLog/deriveLog.ts";
import { readWholeLines } from "../../../scripts/eventLog/readWholeLines.ts";

// A separate process for each run, so that only its own memory is measured. Arguments: FILE [trust].
const [file = "-", trust] = process.argv.slice(2);
const began = performance.now();
const before = process.cpuUsage();
const { events, store } = await deriveLog(readWholeLines(file), { trustSignatures: trust === "trust" });
const seconds = (performance.now() - began) / 1000;
const { user, system } = process.cpuUsage(before);
const cpuSeconds = (user + system) / 1_000_000;
const peakMegabytes = process.resourceUsage().maxRSS / 1024;
process.stdout.write(
  JSON.stringify({ events, seconds, cpuSeconds, peakMegabytes, digest: snapshotOf(store).digest }),
);
