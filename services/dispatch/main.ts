// The dispatcher's process: `node services/dispatch/main.ts`. Environment variables configure it (config.ts).
import { runService } from "tallystick-runtime/processes/runService";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { readDispatchConfig } from "./config.ts";
import { runDispatch } from "./runDispatch.ts";

await runService(() => runDispatch(readDispatchConfig(process.env), log));
