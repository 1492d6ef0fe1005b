/** Work that is repeated in rounds. */
export type Rounds = {
  /** Runs one round, or waits for the running one. */
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
 * @param work the work of a round; it ends early when the signal is aborted, and an error ends only this
 * round
 */
export function repeatRounds(
  work: (signal: AbortSignal) => Promise<void>,
  { pauseMs, closed }: { pauseMs: number; closed: string },
): Rounds {
  const stop = new AbortController();
  const { signal } = stop;
  let running: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const round = (): Promise<void> => {
    running ??= work(signal).finally(() => {
      running = undefined;
    });
    return running;
  };
  const plan = (ms: number): void => {
    timer = setTimeout(() => {
      void round().finally(() => {
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
      await running;
    },
  };
}
