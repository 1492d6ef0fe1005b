import { TallystickError } from "tallystick-protocol/errors";
import { requireSame } from "tallystick-sdk/buyer/hireByKey";
import type { HireResult } from "tallystick-sdk/buyer/hireResult";
import type { HireStage } from "tallystick-sdk/buyer/hiring";
import { within } from "tallystick-sdk/deadline";

/**
 * How many milliseconds a tool waits for a hire's result. After this time the tool answers that the hire still runs,
 * and gives its idempotency key.
 */
export const HANDLE_AFTER_MS = 20_000;

/** The most hires that run at the same time. */
const MAX_RUNNING = 64;

/** A hire that runs in this process. It continues when the client that asked for it is gone. */
export type RunningHire = {
  key: string;
  /** The hash of the hire's parameters, as `askedOf` makes it. */
  asked: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  stage: HireStage;
  /** Cancels the hire. Nothing is paid, unless the payment was already sent. */
  cancel: () => void;
  /** Never rejects. */
  outcome: Promise<{ hire: HireResult } | { error: unknown }>;
  /** Called with each stage. */
  listeners: Set<(stage: HireStage) => void>;
};

/** The hires that run in this process, by their idempotency key. */
export type HireDesk = {
  /**
   * Starts a hire, or returns the hire that already runs with this key.
   *
   * @throws TallystickError `idempotency_key_reused` when the running hire is for something else; `too_many_hires`
   */
  start: (
    call: { key: string; asked: string },
    hire: (how: { signal: AbortSignal; onProgress: (stage: HireStage) => void }) => Promise<HireResult>,
  ) => RunningHire;
  get: (key: string) => RunningHire | undefined;
};

/** @param now milliseconds since 1970 */
export function createHireDesk(now: () => number): HireDesk {
  const running = new Map<string, RunningHire>();
  return {
    get: (key) => running.get(key),
    start: ({ key, asked }, hire) => {
      const known = running.get(key);
      if (known) {
        requireSame(known.asked, asked, key);
        return known;
      }
      if (running.size >= MAX_RUNNING) {
        throw new TallystickError({
          code: "too_many_hires",
          message: `${MAX_RUNNING} hires are under way here.`,
          hint: "Wait until some of them end. get_hire shows their state.",
        });
      }
      const controller = new AbortController();
      const listeners = new Set<(stage: HireStage) => void>();
      const work = hire({
        signal: controller.signal,
        onProgress: (stage) => {
          started.stage = stage;
          for (const tell of listeners) tell(stage);
        },
      });
      const started: RunningHire = {
        key,
        asked,
        startedAt: now(),
        stage: "searching",
        cancel: () => controller.abort(cancelled()),
        listeners,
        outcome: work
          .then(
            (done) => ({ hire: done }),
            (error: unknown) => ({ error }),
          )
          .finally(() => running.delete(key)),
      };
      running.set(key, started);
      return started;
    },
  };
}

/**
 * Waits a limited time for a hire.
 *
 * @param onStage called with each stage during the wait
 * @returns undefined when the hire takes longer than `ms` milliseconds
 */
export async function waitFor(
  hire: RunningHire,
  onStage: (stage: HireStage) => void,
  ms: number,
): Promise<{ hire: HireResult } | { error: unknown } | undefined> {
  hire.listeners.add(onStage);
  try {
    return await within(hire.outcome, ms);
  } finally {
    hire.listeners.delete(onStage);
  }
}

function cancelled(): TallystickError {
  return new TallystickError({
    code: "cancelled",
    message: "The hire was cancelled before a payment was sent.",
    hint: "Nothing was paid. The same call starts it again.",
  });
}
