/** Work that is done again and again. */
export type Rounds = {
  /** One round; the one under way if there is one. */
  round: () => Promise<void>;
  /** Begins; later calls change nothing. */
  start: () => void;
  /** Ends the round under way, and stops. */
  close: () => Promise<void>;
};

/**
 * Does the same work again and again, `pauseMs` milliseconds between two rounds, never two at once.
 *
 * @param work ends early when the signal is aborted; what it throws ends the round alone
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
