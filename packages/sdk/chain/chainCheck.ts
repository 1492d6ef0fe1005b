import type { PublicClient } from "viem";
import { ChainError } from "../errors.ts";
import type { PaymentNetwork } from "./paymentNetwork.ts";

/**
 * Makes a function that requires that a client is of the network's chain. A token and an escrow may have the same
 * addresses on another chain, and that chain would show money that moved here as if it had not moved. The client is
 * asked until it has named this chain once.
 *
 * @throws the function throws ChainError `wrong_chain`, and passes on the errors of the client
 */
export function chainCheck(
  client: Pick<PublicClient, "getChainId">,
  { chainId }: Pick<PaymentNetwork, "chainId">,
): () => Promise<void> {
  let isRight = false;
  return async () => {
    if (isRight) return;
    const found = await client.getChainId();
    if (found !== chainId) {
      throw new ChainError({
        code: "wrong_chain",
        message: `The RPC leads to chain ${found}, and the payments are on chain ${chainId}.`,
        hint: "Name an RPC of that chain: `client` of createBuyer or createSeller, TALLYSTICK_RPC_URL, or RPC_URL of a keeper.",
        field: "client",
        neverSent: true,
      });
    }
    isRight = true;
  };
}
