import { x402Facilitator } from "@x402/core/facilitator";
import type { FacilitatorClient } from "@x402/core/server";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import type { TransactionSender } from "../chain/transactionSender.ts";

/**
 * An x402 facilitator in this process: verifies payments against the chain and settles them with its own
 * account, which pays the gas. For sellers that do not want to depend on a third party, and for local chains,
 * which have no facilitator.
 *
 * @example createLocalFacilitator({ sender: createTransactionSender({ account, chainId: 8453, rpc: url }), chainId: 8453 })
 */
export function createLocalFacilitator(parameters: {
  sender: TransactionSender;
  chainId: number;
}): FacilitatorClient {
  const { sender, chainId } = parameters;
  const { client } = sender;
  const signer = toFacilitatorEvmSigner({
    address: sender.address,
    readContract: (call) => client.readContract(call as never),
    verifyTypedData: (message) => client.verifyTypedData(message as never),
    writeContract: (call) => sender.send(call as never),
    sendTransaction: () => {
      throw new Error("this facilitator deploys no wallets");
    },
    waitForTransactionReceipt: ({ hash, timeout }) =>
      client.waitForTransactionReceipt({ hash, ...(timeout !== undefined && { timeout }) }),
    getCode: ({ address }) => client.getCode({ address }),
  });
  const facilitator = new x402Facilitator().register(`eip155:${chainId}`, new ExactEvmScheme(signer));
  return {
    verify: (payload, requirements) => facilitator.verify(payload, requirements),
    settle: (payload, requirements) => facilitator.settle(payload, requirements),
    getSupported: async () =>
      facilitator.getSupported() as Awaited<ReturnType<FacilitatorClient["getSupported"]>>,
  };
}
