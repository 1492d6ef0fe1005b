// The prober's process: `node services/probing/main.ts`. Environment variables configure it (config.ts).
import { runService } from "tallystick-runtime/processes/runService";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { readProberConfig } from "./config.ts";
import { runProber } from "./runProber.ts";

await runService(async () => {
  const config = readProberConfig(process.env);
  const { url, address, close } = await runProber(config, log);
  return { url, close, about: { prober: address, folder: config.folder } };
});
