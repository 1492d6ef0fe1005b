import type { Address } from "tallystick-protocol/address";
import { HistoryMissingError } from "../errors.ts";
import type { BlockAt } from "../logPort.ts";
import { topicOf, word } from "../tokenLogs.ts";
import { faultError, type RpcContext, retryWhileStale, together } from "./context.ts";
import type { RpcCall } from "./jsonRpc.ts";
import { refusalOf } from "./refusals.ts";

/** The selector of `balanceOf(address)` (ERC-20). */
const BALANCE_OF = "0x70a08231";

/**
 * Reads the token balances of wallets at one block, which is named by its hash (EIP-1898). They are in the
 * order of the wallets.
 */
export async function readBalances(
  context: RpcContext,
  wallets: readonly Address[],
  { block, hash }: BlockAt,
  signal: AbortSignal,
): Promise<bigint[]> {
  const { source, token } = context;
  const balances: bigint[] = [];
  // The limit of a batch may go down while the balances are read.
  const size = context.batch;
  for (let n = 0; n < wallets.length; n += size) {
    const calls = wallets.slice(n, n + size).map((wallet): RpcCall => {
      const data = `${BALANCE_OF}${topicOf(wallet).slice(2)}`;
      return {
        method: "eth_call",
        params: [
          { to: token, data },
          { blockHash: hash, requireCanonical: true },
        ],
      };
    });
    const read = await retryWhileStale(context, "eth_call", signal, async () => {
      const replies = await together(context, calls, signal);
      return replies.map(({ fault, result }) => {
        if (fault && refusalOf(fault) === "history") {
          throw new HistoryMissingError(source, block, `it has no state there, ${fault.message}`);
        }
        if (fault) throw faultError(context, fault, block);
        return BigInt(word(result, { source, field: "eth_call" }));
      });
    });
    balances.push(...read);
  }
  return balances;
}
