import { TallystickError } from "tallystick-protocol/errors";

/** Thrown when the given time is over. Code `deadline_passed`. */
export class DeadlineError extends TallystickError {}

/** The end of all waiting in a call: a point in time or the caller's signal, whichever comes first. */
export type Deadline = {
  /** The signal that is aborted at the end, with the caller's reason or a {@link DeadlineError}. */
  signal: AbortSignal;
  /** Milliseconds that are left, 0 when it is over. */
  left: () => number;
  /** Stops the clock, so that a process may end. */
  end: () => void;
};

/** The longest that a timer can wait, in milliseconds. */
const MAX_TIMER_MS = 2_147_483_647;

/**
 * Starts the clock of one call.
 *
 * @param ms how long the call may take
 * @param outer the caller's own signal
 */
export function startDeadline(ms: number, outer?: AbortSignal): Deadline {
  const controller = new AbortController();
  const waitMs = Math.min(MAX_TIMER_MS, Math.max(0, ms));
  const over = performance.now() + waitMs;
  const timer = setTimeout(() => controller.abort(deadlinePassed(waitMs)), waitMs);
  const end = (): void => {
    clearTimeout(timer);
    outer?.removeEventListener("abort", follow);
  };
  const follow = (): void => {
    end();
    controller.abort(outer?.reason);
  };
  if (outer?.aborted) follow();
  else outer?.addEventListener("abort", follow, { once: true });
  return {
    signal: controller.signal,
    left: () => (controller.signal.aborted ? 0 : Math.max(0, over - performance.now())),
    end,
  };
}

function deadlinePassed(ms: number): DeadlineError {
  return new DeadlineError({
    code: "deadline_passed",
    message: `The call did not end within ${Math.ceil(ms)} ms.`,
    hint: "Give it more time (deadlineMs), or find out what does not answer.",
  });
}

/** The result of `work`, or the signal's reason as soon as it is aborted. The work itself is not stopped. */
export function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = (): void => reject(signal.reason);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** The result of `work`, or undefined when it takes longer. The work itself continues. */
export async function within<T>(work: Promise<T>, ms: number): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), Math.min(MAX_TIMER_MS, ms));
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
