import { TallystickError } from "tallystick-protocol/errors";
import type { Call } from "../logPort/logPort.ts";

/** Repeats a read of a source of logs until it succeeds, as long as its block is on the chain. */
export type RetryRead = <Result>(work: (call: Call) => Promise<Result>) => Promise<Result>;

/** Does a read once, in the background. It rejects if the source fails; then the read is repeated when it is needed. */
export type ReadOnce = <Result>(work: (call: Call) => Promise<Result>) => Promise<Result>;

/** The block of this work is no longer on the chain, so what was read for it is useless. */
export class OrphanedError extends TallystickError {
  constructor(block: number) {
    super({
      code: "block_orphaned",
      message: `Block ${block} is no longer on the chain.`,
      hint: "You need to do nothing: the chain's present blocks are read instead.",
    });
  }
}
