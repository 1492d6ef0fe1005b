import type { Log } from "./stderrLog.ts";

/** Work that is repeated in rounds. */
export type Rounds = {
  /** Runs one round, or waits for the running round. Throws the round's error. */
  round: () => Promise<void>;
  /** Starts the rounds. Later calls change nothing. */
  start: () => void;
  /** Aborts the running round, and stops. */
  close: () => Promise<void>;
};

/**
 * Repeats work with a pause of `pauseMs` milliseconds between two rounds. Two rounds never run at the same
 * time.
 *
 * @param work the work of a round; it ends early when the signal is aborted. An error ends only this round, and is
 * logged
 */
export function repeatRounds(
  work: (signal: AbortSignal) => Promise<void>,
  { pauseMs, closed, log }: { pauseMs: number; closed: string; log: Log },
): Rounds {
  const stop = new AbortController();
  const { signal } = stop;
  let running: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const round = (): Promise<void> => {
    running ??= (async () => await work(signal))().finally(() => {
      running = undefined;
    });
    return running;
  };
  const plan = (ms: number): void => {
    timer = setTimeout(() => {
      void round()
        .catch((error: unknown) => {
          if (!signal.aborted) log("A round ended with an error. The next round repeats it.", { error });
        })
        .then(() => {
          if (!signal.aborted) plan(pauseMs);
        });
    }, ms);
  };
  return {
    round,
    start: () => {
      if (timer === undefined) plan(0);
    },
    close: async () => {
      stop.abort(new Error(closed));
      clearTimeout(timer);
      // The error of a round belongs to whoever began it.
      await running?.catch(() => {});
    },
  };
}
