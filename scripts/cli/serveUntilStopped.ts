import { logFaults } from "tallystick-runtime/http/logFaults";
import { type OnFault, surviveRequests } from "tallystick-runtime/http/requestScope";
import { plainJson } from "tallystick-runtime/plainText";
import type { RunningService } from "tallystick-runtime/processes/runService";
import { stderrLog as log } from "tallystick-runtime/stderrLog";
import { untilAborted, watchShutdown } from "./shutdown.ts";

/**
 * Runs a service in the process of a command until the command is told to stop. It prints where the service listens as one
 * line of JSON. A fault of a request ends only the connection of that request.
 *
 * @param start gets the function to call when a request has a fault
 */
export async function serveUntilStopped(start: (onFault: OnFault) => Promise<RunningService>): Promise<void> {
  const onFault = logFaults(log);
  const shutdown = watchShutdown();
  surviveRequests(onFault);
  try {
    const { url, about, close } = await start(onFault);
    process.stdout.write(`${plainJson({ listening: url, ...about })}\n`);
    await untilAborted(shutdown.signal);
    await close();
  } finally {
    shutdown.release();
  }
}
