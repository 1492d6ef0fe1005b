import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { PublicClient } from "viem";
import { settledBlock } from "../chain/paymentState.ts";

/** The state of an escrow. */
export type EscrowState = {
  status: "none" | "held" | "released" | "split" | "refunded" | "timedOut";
  delivered: boolean;
  /** Atomic units held now. */
  amount: bigint;
};

const STATUSES = ["none", "held", "released", "split", "refunded", "timedOut"] as const;

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
  return { status: STATUSES[status] ?? "none", delivered, amount };
}
