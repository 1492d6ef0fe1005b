// The witness's process: `node services/witness/main.ts`. Environment variables configure it (config.ts).
import { logFaults } from "tallystick-runtime/http/logFaults";
import { runService } from "tallystick-runtime/processes/runService";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { readWitnessConfig } from "./config.ts";
import { runWitness } from "./runWitness.ts";

await runService(async () => {
  const config = readWitnessConfig(process.env);
  const { url, verifierKey, origins, close } = await runWitness({
    config,
    now: () => Date.now() / 1000,
    onFault: logFaults(log),
  });
  return { url, close, about: { key: verifierKey, logs: origins.join(", ") } };
});
