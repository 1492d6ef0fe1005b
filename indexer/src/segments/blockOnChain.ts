import { type Hex, isHex } from "tallystick-protocol/hex";
import type { BlockAt } from "../../logPort/logPort.ts";
import type { Waiting } from "./retryUntilAvailable.ts";

/**
 * If another block has the number of the handler's block, it counts as final when this many blocks follow it. This is
 * one more than Ponder waits for on Base and on a local chain.
 */
export const BURIED_UNDER = 31;

/** Reads the header of a block by its number. Rejects if the chain does not have it yet. */
export type ReadHeader = (block: number) => Promise<{ number: bigint; hash: Hex; parentHash: Hex }>;

/**
 * Asks the chain about the block of a handler. Each answer may come from another node.
 *
 * @param isFinal whether Ponder never takes the block back. Then the handler must not give it up, whatever the chain's node
 * says: it may follow a fork for hours
 */
export function blockOnChain(
  { block, hash }: BlockAt,
  read: ReadHeader,
  signal: AbortSignal,
  isFinal: () => Promise<boolean>,
): Pick<Waiting, "isCanonical" | "isBuried"> {
  const headerOf: ReadHeader = async (number) => {
    const header = await read(number);
    // An answer that is no block, or not the one that was asked for, must not count as another block with this number: the
    // handler would give up a block that is on the chain.
    const isAsked = header.number === BigInt(number);
    if (!isAsked || !isHex(header.hash, 32) || !isHex(header.parentHash, 32))
      throw new Error(`the answer about block ${number} is not its header`);
    return header;
  };
  return {
    isCanonical: async () => (await isFinal()) || (await headerOf(block)).hash === hash,
    isBuried: async () => {
      const last = block + BURIED_UNDER;
      let above = await headerOf(last);
      // From the last block down, each must be the parent of the one above. So no node of another fork counts.
      for (let n = last - 1; n >= block; n--) {
        signal.throwIfAborted();
        const header = await headerOf(n);
        if (header.hash !== above.parentHash) return false;
        above = header;
      }
      return above.hash !== hash;
    },
  };
}
