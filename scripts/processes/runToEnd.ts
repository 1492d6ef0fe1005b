import type { ProcessExit, ProcessSpec } from "./messages.ts";
import type { Keeper } from "./openKeeper.ts";
import { serviceError } from "./startService.ts";

/**
 * Runs a program of the keeper to its end.
 *
 * @throws TallystickError `service_failed` with the end of its log when it does not exit with 0
 */
export async function runToEnd(keeper: Keeper, spec: ProcessSpec): Promise<void> {
  const ended = Promise.withResolvers<ProcessExit>();
  const stopListening = keeper.onExit((exit) => {
    if (exit.name === spec.name) ended.resolve(exit);
  });
  // The keeper does not hold this process open; waiting for a program does.
  const hold = setInterval(() => {}, 60_000);
  try {
    await keeper.start(spec);
    const { code, signal } = await ended.promise;
    if (code !== 0) throw serviceError(spec, `${spec.name} ended with ${signal ?? `code ${code}`}`);
  } finally {
    clearInterval(hold);
    stopListening();
  }
}
