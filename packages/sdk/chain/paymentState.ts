import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { PublicClient } from "viem";
import type { PaymentNetwork } from "./paymentNetwork.ts";

/** An EIP-3009 authorization as a block shows it. `time` is the block's, in unix seconds. */
export type PaymentState = { isUsed: boolean; time: number };

/**
 * Returns the last block whose payments count as settled. `confirmations` is the number of blocks that must show
 * a payment, its own block included.
 */
export async function settledBlock(client: PublicClient, confirmations: number): Promise<bigint> {
  const head = await client.getBlockNumber({ cacheTime: 0 });
  const depth = BigInt(Math.max(1, Math.floor(confirmations)) - 1);
  return head > depth ? head - depth : 0n;
}

/** Whether an authorization was used, as of the latest block. */
export async function isPaymentUsed(
  client: PublicClient,
  { token }: PaymentNetwork,
  { payer, nonce }: { payer: Address; nonce: Hex },
): Promise<boolean> {
  const { testUsdcAbi: abi } = await import("tallystick-protocol/abi/testUsdcAbi");
  return await client.readContract({
    address: token,
    abi,
    functionName: "authorizationState",
    args: [payer, nonce],
  });
}

/**
 * Whether an authorization was used, as of the last block with enough confirmations. If a nonce was signed
 * for one payment only, no other payment can have used it.
 */
export async function readPaymentState(
  client: PublicClient,
  { token }: PaymentNetwork,
  { payer, nonce }: { payer: Address; nonce: Hex },
  confirmations: number,
): Promise<PaymentState> {
  const blockNumber = await settledBlock(client, confirmations);
  const { testUsdcAbi } = await import("tallystick-protocol/abi/testUsdcAbi");
  const functionName = "authorizationState";
  const [block, isUsed] = await Promise.all([
    client.getBlock({ blockNumber }),
    client.readContract({
      address: token,
      abi: testUsdcAbi,
      functionName,
      args: [payer, nonce],
      blockNumber,
    }),
  ]);
  return { isUsed, time: Number(block.timestamp) };
}
