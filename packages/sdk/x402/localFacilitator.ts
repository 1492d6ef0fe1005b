import { x402Facilitator } from "@x402/core/facilitator";
import type { FacilitatorClient } from "@x402/core/server";
import { toFacilitatorEvmSigner } from "@x402/evm";
import { ExactEvmScheme } from "@x402/evm/exact/facilitator";
import type { Hex } from "tallystick-protocol/hex";
import type { TransactionReceipt } from "viem";
import type { TransactionSender } from "../chain/transactionSender.ts";

/**
 * The most gas for one payment. A payment by a key needs less than 100,000, and most contract wallets need less than
 * 200,000. A contract wallet that checks its signature can burn as much gas as it gets.
 */
const MAX_GAS = 500_000n;

/**
 * An x402 facilitator in this process: verifies payments against the chain and settles them with its own account, which
 * pays the gas. It refuses a payment that needs more than `maxGas`. For sellers that do not want to depend on a third
 * party, and for local chains, which have no facilitator.
 *
 * @example createLocalFacilitator({ sender: createTransactionSender({ account, chainId: 8453, rpc: url }), chainId: 8453 })
 */
export function createLocalFacilitator(parameters: {
  sender: TransactionSender;
  chainId: number;
  /** Default 500,000. */
  maxGas?: bigint;
}): FacilitatorClient {
  const { sender, chainId, maxGas = MAX_GAS } = parameters;
  const { client } = sender;
  /** The receipts of what was sent, by the hash at the first price. */
  const sent = new Map<Hex, Promise<TransactionReceipt>>();
  /** The hashes of transactions that were mined at a higher price. */
  const replaced = new Map<string, Hex>();
  const signer = toFacilitatorEvmSigner({
    address: sender.address,
    // The payment is tried with this gas, before the seller works for it.
    readContract: (call) => client.readContract({ ...call, gas: maxGas } as never),
    verifyTypedData: (message) => client.verifyTypedData(message as never),
    writeContract: async (call) => {
      const hash = await sender.send({ ...call, maxGas } as never);
      const receipt = sender.wait(hash);
      // Perhaps the facilitator does not wait for this promise.
      receipt.catch(() => {}).finally(() => sent.delete(hash));
      sent.set(hash, receipt);
      return hash;
    },
    sendTransaction: () => {
      throw new Error("this facilitator deploys no wallets");
    },
    waitForTransactionReceipt: async ({ hash, timeout }) => {
      const receipt = await (sent.get(hash) ??
        client.waitForTransactionReceipt({ hash, ...(timeout !== undefined && { timeout }) }));
      if (receipt.transactionHash !== hash) replaced.set(hash, receipt.transactionHash);
      return receipt;
    },
    getCode: ({ address }) => client.getCode({ address }),
  });
  const facilitator = new x402Facilitator().register(`eip155:${chainId}`, new ExactEvmScheme(signer));
  return {
    verify: (payload, requirements) => facilitator.verify(payload, requirements),
    settle: async (payload, requirements) => {
      const settled = await facilitator.settle(payload, requirements);
      const transaction = replaced.get(settled.transaction);
      if (transaction === undefined) return settled;
      replaced.delete(settled.transaction);
      return { ...settled, transaction };
    },
    getSupported: async () =>
      facilitator.getSupported() as Awaited<ReturnType<FacilitatorClient["getSupported"]>>,
  };
}
