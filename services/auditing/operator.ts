import { createRound, freshState, type OperatorState, type RoundParameters } from "./operatorRound.ts";

/** `roundMs`: milliseconds between two rounds. */
export type OperatorParameters = RoundParameters & { roundMs: number };

export type Operator = {
  /** One round of everything. What fails is logged and left to the next round; nothing of it keeps the rest. */
  round: () => Promise<void>;
  start: () => void;
  state: () => OperatorState;
  /** Ends the round under way, and stops. */
  close: () => Promise<void>;
};

/**
 * The operator of an audit network: hires the auditors that were drawn, pays what its pool owes them, refunds held escrows of hires
 * that were rolled back, and arranges canaries. It chooses nobody, and decides nothing: whom it hires is drawn, what it pays is
 * derived, and decisions on challenged hires are its people's.
 */
export function createOperator(parameters: OperatorParameters): Operator {
  const { roundMs } = parameters;
  const stop = new AbortController();
  const { signal } = stop;
  const state = freshState();
  const runRound = createRound(parameters, state, signal);
  let running: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const round = (): Promise<void> => {
    running ??= runRound().finally(() => {
      running = undefined;
    });
    return running;
  };
  const plan = (ms: number): void => {
    timer = setTimeout(() => {
      void round().finally(() => {
        if (!signal.aborted) plan(roundMs);
      });
    }, ms);
  };

  return {
    round,
    start: () => {
      if (timer === undefined) plan(0);
    },
    state: () => state,
    close: async () => {
      stop.abort(new Error("The operator was closed."));
      clearTimeout(timer);
      await running;
    },
  };
}
