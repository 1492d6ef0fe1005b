// The prober's process: `node --import tsx services/probing/main.ts`. Configured by environment variables (config.ts).
import { TallystickError } from "tallystick-protocol/errors";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { readProberConfig } from "./config.ts";
import { runProber } from "./runProber.ts";

function end(error: unknown): never {
  if (error instanceof TallystickError) {
    process.stderr.write(`error: ${error.message}\n${error.hint ? `hint: ${error.hint}\n` : ""}`);
  } else {
    process.stderr.write(`error: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
  process.exit(1);
}

async function main(): Promise<void> {
  const config = readProberConfig(process.env);
  const running = await runProber(config, log);
  const { url, address } = running;
  process.stdout.write(`${JSON.stringify({ listening: url, prober: address, folder: config.folder })}\n`);
  let stopping = false;
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    if (stopping) return;
    stopping = true;
    log("Stopping.", { signal });
    await running.close();
    process.exit(0);
  };
  for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => void stop(signal).catch(end));
}

main().catch(end);
