import { TallystickError } from "tallystick-protocol/errors";
import { logFaults } from "../http/logFaults.ts";
import { surviveRequests } from "../http/requestScope.ts";
import { stderrLog as log } from "../stderrLog.ts";
import { endWithError } from "./endWithError.ts";

/** How long a service has to stop, in milliseconds. Docker kills a container ten seconds after it has asked it to stop. */
const STOP_MS = 8_000;

export type RunningService = {
  /** Where it listens. */
  url: string;
  /** Further fields of its first line. */
  about?: { [name: string]: unknown };
  close: () => Promise<void>;
};

/**
 * Runs a service as a process of its own, until SIGTERM or SIGINT. It prints where it listens as one line of JSON. A
 * fault of a request ends only that request. An error at the start, or any other fault, ends the process with exit code
 * 1. A stop that takes too long also ends it. That loses nothing: everything that was acknowledged is on disk.
 *
 * @param stopMs tests make it shorter
 */
export async function runService(start: () => Promise<RunningService>, stopMs = STOP_MS): Promise<void> {
  surviveRequests(logFaults(log), endWithError);
  const running = await start().catch(endWithError);
  let isStopping = false;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    process.on(signal, () => {
      if (isStopping) return;
      isStopping = true;
      log("Stopping.", { signal });
      setTimeout(() => endWithError(stopsTooLong(stopMs)), stopMs).unref();
      running.close().then(() => process.exit(0), endWithError);
    });
  }
  // This line comes last, because its reader may send a signal at once.
  process.stdout.write(`${JSON.stringify({ listening: running.url, ...running.about })}\n`);
}

function stopsTooLong(stopMs: number): TallystickError {
  return new TallystickError({
    code: "stops_too_long",
    message: `The service did not stop within ${stopMs / 1_000} seconds.`,
    hint: "It ends now. Everything that it acknowledged is on disk, and it continues from there at the next start.",
  });
}
