import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { PublicClient } from "viem";
import { settledBlock } from "../chain/paymentState.ts";

/** What an escrow can be, in the order of the contract's numbers. */
export const escrowStatuses = ["none", "held", "released", "split", "refunded", "timedOut"] as const;

/** The state of an escrow. */
export type EscrowState = {
  status: (typeof escrowStatuses)[number];
  delivered: boolean;
  /** Atomic units held now. */
  amount: bigint;
};

/** Reads an escrow from its contract: now, or as of the last block with this many confirmations. */
export async function readEscrowState(
  client: PublicClient,
  escrow: Address,
  id: Hex,
  confirmations?: number,
): Promise<EscrowState> {
  const blockNumber = confirmations === undefined ? undefined : await settledBlock(client, confirmations);
  const { hireEscrowAbi } = await import("tallystick-protocol/abi/hireEscrowAbi");
  const { status, delivered, amount } = await client.readContract({
    address: escrow,
    abi: hireEscrowAbi,
    functionName: "stateOf",
    args: [id],
    ...(blockNumber !== undefined && { blockNumber }),
  });
  return { status: escrowStatuses[status] ?? "none", delivered, amount };
}
