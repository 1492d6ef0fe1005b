// The dispatcher's process: `node --import tsx services/dispatch/main.ts`. Environment variables configure it (config.ts).
import { TallystickError } from "tallystick-protocol/errors";
import { surviveRequests } from "tallystick-runtime/http/requestScope";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { readDispatchConfig } from "./config.ts";
import { runDispatch } from "./runDispatch.ts";

function end(error: unknown): never {
  if (error instanceof TallystickError) {
    const more = "issues" in error ? (error.issues as { field: string; message: string }[]).slice(1) : [];
    for (const { field, message } of more) process.stderr.write(`error: ${field}: ${message}\n`);
    process.stderr.write(`error: ${error.message}\n${error.hint ? `hint: ${error.hint}\n` : ""}`);
  } else {
    process.stderr.write(`error: ${error instanceof Error ? error.stack : String(error)}\n`);
  }
  process.exit(1);
}

async function main(): Promise<void> {
  surviveRequests((error) => log("A request left a fault behind.", { error }));
  const running = await runDispatch(readDispatchConfig(process.env), log);
  process.stdout.write(`${JSON.stringify({ listening: running.url })}\n`);
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
