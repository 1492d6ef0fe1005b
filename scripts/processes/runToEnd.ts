import type { ProcessExit, ProcessSpec } from "./messages.ts";
import type { Supervisor } from "./openSupervisor.ts";
import { serviceError } from "./startService.ts";

/**
 * Runs a program under a supervisor, and waits until it has ended.
 *
 * @throws TallystickError `service_failed` with the end of its log when it does not exit with 0
 */
export async function runToEnd(supervisor: Supervisor, spec: ProcessSpec): Promise<void> {
  const ended = Promise.withResolvers<ProcessExit>();
  const stopListening = supervisor.onExit((exit) => {
    if (exit.name === spec.name) ended.resolve(exit);
  });
  // The supervisor does not keep this process running, so the timer does it during the wait.
  const hold = setInterval(() => {}, 60_000);
  try {
    await supervisor.start(spec);
    const { code, signal } = await ended.promise;
    if (code !== 0) throw serviceError(spec, `${spec.name} ended with ${signal ?? `code ${code}`}`);
  } finally {
    clearInterval(hold);
    stopListening();
  }
}
