import { repeatRounds } from "tallystick-runtime/repeatRounds";
import { createRound, freshState, type OperatorState, type RoundParameters } from "./operatorRound.ts";

/** `roundMs`: milliseconds between two rounds. */
export type OperatorParameters = RoundParameters & { roundMs: number };

export type Operator = {
  /** One round of everything. A part that fails is logged and left to the next round. */
  round: () => Promise<void>;
  start: () => void;
  state: () => OperatorState;
  /** Aborts the current round, and stops. */
  close: () => Promise<void>;
};

/**
 * The operator of an audit network: hires the drawn auditors, pays what its pool owes them, refunds held
 * escrows of hires that were rolled back, and arranges canaries. It chooses nothing itself: a draw names the auditors,
 * the derivation computes what they are paid, and people decide on challenged hires.
 */
export function createOperator(parameters: OperatorParameters): Operator {
  const state = freshState();
  let runRound: (() => Promise<void>) | undefined;
  const { round, start, close } = repeatRounds(
    (signal) => {
      // The state that stays from one round to the next.
      runRound ??= createRound(parameters, state, signal);
      return runRound();
    },
    {
      pauseMs: parameters.roundMs,
      closed: "The operator was closed.",
      log: parameters.log,
    },
  );
  return { round, start, close, state: () => state };
}
