import type { CallReader } from "tallystick-protocol/erc1271/askWallet";
import { VERDICTS } from "tallystick-protocol/erc1271/walletProbe";
import { isHex } from "tallystick-protocol/hex";

/**
 * Makes a reader for questions to wallets at the block of a handler. It asks the chain by the hash of the block. Ponder asks by
 * the number of the block, and keeps the answer by it. This can be the answer of another block: the chain's node followed a fork,
 * or the answer is from before a reorganization during which no process ran. So what Ponder kept is used only for a final block,
 * and only if the chain's node does not answer by the hash. Many nodes forget the state of old blocks.
 *
 * @param keeping Ponder. It is asked in any case, so that it keeps an answer for a later index
 * @param byHash asks the chain each time, by the hash of the block
 */
export function walletsAtBlock(
  keeping: CallReader,
  byHash: CallReader,
  isFinal: () => Promise<boolean>,
): CallReader {
  return {
    call: async (question) => {
      const kept = await keeping.call(question).catch(() => undefined);
      // Ponder also keeps the answer that the chain's node has no state of the block.
      if (kept === undefined || !isAboutWallet(kept) || !(await isFinal())) return byHash.call(question);
      const asked = await byHash.call(question).catch(() => kept);
      return isAboutWallet(asked) ? asked : kept;
    },
  };
}

/** The answers that say something about a wallet. Every other answer only says why the chain's node gave none. */
const ABOUT_WALLET: readonly bigint[] = [VERDICTS.yes, VERDICTS.no, VERDICTS.noContract];

function isAboutWallet({ data }: Awaited<ReturnType<CallReader["call"]>>): boolean {
  return isHex(data, 32) && ABOUT_WALLET.includes(BigInt(data));
}
