import { TallystickError } from "tallystick-protocol/errors";
import type { Call } from "../logPort/logPort.ts";

/** Does something with a source of logs until it succeeds, for as long as the block stands that it is done for. */
export type RetryRead = <Result>(work: (call: Call) => Promise<Result>) => Promise<Result>;

/** The block that something was done for is gone from the chain: what was read for it is of no use. */
export class OrphanedError extends TallystickError {
  constructor(block: number) {
    super({
      code: "block_orphaned",
      message: `Block ${block} is not on the chain any more.`,
      hint: "Nothing has to be done: the chain's other blocks are read in its place.",
    });
  }
}
