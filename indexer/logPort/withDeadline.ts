import { DeadlineError } from "./errors.ts";
import type { Call } from "./logPort.ts";

/**
 * Runs work within the time limit of a call.
 *
 * @throws the reason of the call's signal if it was aborted, DeadlineError if the time was over
 */
export async function withDeadline<Result>(
  { signal, deadlineMs }: Call,
  source: string,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const controller = new AbortController();
  const ended = Promise.withResolvers<never>();
  const end = (reason: unknown) => {
    controller.abort(reason);
    ended.reject(reason);
  };
  const abort = () => end(signal.reason);
  const timer = setTimeout(() => end(new DeadlineError(source, deadlineMs)), deadlineMs);
  signal.addEventListener("abort", abort, { once: true });
  try {
    // The work may still wait for its turn. The race lets the call end at once.
    return await Promise.race([work(controller.signal), ended.promise]);
  } catch (error) {
    controller.signal.throwIfAborted();
    throw error;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    ended.promise.catch(() => {});
  }
}
