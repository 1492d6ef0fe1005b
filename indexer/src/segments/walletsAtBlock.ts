import type { CallReader } from "tallystick-protocol/erc1271/askWallet";
import { withoutKeptRefusals } from "./withoutKeptRefusals.ts";

/**
 * Makes a reader for questions to wallets at the block of a handler. Ponder asks by the number of the block, and keeps the answer
 * by it. As long as the chain may change, this can be the answer of another block: the chain's node follows a fork, or the answer
 * is from before a reorganization during which no process ran. So until the block is final, the chain is asked by its hash.
 * A final block gets the answer that Ponder kept, if there is one. It is wrong if Ponder kept it of a block that was removed
 * while no process ran.
 *
 * @param keeping Ponder. It is asked before in any case: later its answer may be the only one, because many of the chain's nodes
 * forget the state of old blocks
 * @param byHash asks the chain each time, by the hash of the block
 */
export function walletsAtBlock(
  keeping: CallReader,
  byHash: CallReader,
  isFinal: () => Promise<boolean>,
): CallReader {
  const kept = withoutKeptRefusals(keeping, byHash);
  return {
    call: async (question) => {
      if (await isFinal()) return kept.call(question);
      await keeping.call(question).catch(() => undefined);
      return byHash.call(question);
    },
  };
}
