import { setTimeout as sleep } from "node:timers/promises";
import { TallystickError } from "tallystick-protocol/errors";

/** How {@link waitUntil} waits. */
export type WaitUntilParameters = {
  /** The name of the event, which completes the sentence "gave up waiting for …". */
  what: string;
  /** The time limit, in milliseconds. */
  withinMs: number;
  /** Milliseconds between two calls of `look`. Default 100. */
  everyMs?: number;
  /** Ends the wait early, with the signal's reason. */
  signal?: AbortSignal | undefined;
};

/**
 * Calls `look` again and again until it returns something other than undefined or false, and returns that. An
 * error of `look` counts as "not yet". When the time is over, the last error becomes the cause.
 *
 * @throws TallystickError `wait_timeout`; the signal's reason when aborted
 */
export async function waitUntil<T>(
  look: (signal: AbortSignal) => Promise<T | undefined | false>,
  { what, withinMs, everyMs = 100, signal }: WaitUntilParameters,
): Promise<T> {
  const deadline = performance.now() + withinMs;
  let cause: unknown;
  for (;;) {
    signal?.throwIfAborted();
    try {
      const left = Math.max(1, deadline - performance.now());
      const limit = AbortSignal.timeout(Math.ceil(left));
      const answer = await look(signal ? AbortSignal.any([signal, limit]) : limit);
      if (answer !== undefined && answer !== false) return answer;
      cause = undefined;
    } catch (error) {
      cause = error;
    }
    signal?.throwIfAborted();
    if (performance.now() + everyMs > deadline) {
      throw new TallystickError({
        code: "wait_timeout",
        message: `gave up waiting for ${what} after ${(withinMs / 1000).toFixed(0)} s${cause instanceof Error ? `: ${cause.message}` : ""}`,
        cause,
      });
    }
    await sleep(everyMs, undefined, signal ? { signal } : {}).catch(() => {});
  }
}
