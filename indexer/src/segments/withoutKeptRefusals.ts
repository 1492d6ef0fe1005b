import type { CallReader } from "tallystick-protocol/erc1271/askWallet";
import { VERDICTS } from "tallystick-protocol/erc1271/walletProbe";
import { isHex } from "tallystick-protocol/hex";

/** The answers that say something about a wallet. Every other answer only says why the chain's node gave none. */
const ABOUT_WALLET: readonly bigint[] = [VERDICTS.yes, VERDICTS.no, VERDICTS.noContract];

/**
 * Makes a reader for questions to wallets. Ponder keeps every answer to an `eth_call` in the database, also the answer that the
 * chain's node has no state of the block. A kept answer of this kind would come again forever. So it is not used, and the chain
 * is asked.
 *
 * @param keeping answers with what it has kept; otherwise it asks the chain, and keeps the answer
 * @param chain asks the chain each time, about the same block
 */
export function withoutKeptRefusals(keeping: CallReader, chain: CallReader): CallReader {
  return {
    call: async (question) => {
      const kept = await keeping.call(question);
      const isUseful = isHex(kept.data, 32) && ABOUT_WALLET.includes(BigInt(kept.data));
      return isUseful ? kept : await chain.call(question);
    },
  };
}
