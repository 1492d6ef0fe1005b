import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { PublicClient } from "viem";
import { settledBlock } from "../chain/paymentState.ts";

/** What an escrow can be, in the order of the contract's numbers. */
export const escrowStatuses = ["none", "held", "released", "split", "refunded", "timedOut"] as const;

export type EscrowState = {
  status: (typeof escrowStatuses)[number];
  delivered: boolean;
  /** Atomic units held now. */
  amount: bigint;
};

/** The state of an escrow in a block. `time` is the block's, in unix seconds. */
export type SettledEscrowState = EscrowState & { time: number };

/**
 * Reads an escrow from its contract: now, or as of the last block with this many confirmations. Then the result has
 * the time of that block.
 */
export async function readEscrowState(client: PublicClient, escrow: Address, id: Hex): Promise<EscrowState>;
export async function readEscrowState(
  client: PublicClient,
  escrow: Address,
  id: Hex,
  confirmations: number,
): Promise<SettledEscrowState>;
export async function readEscrowState(
  client: PublicClient,
  escrow: Address,
  id: Hex,
  confirmations?: number,
): Promise<EscrowState | SettledEscrowState> {
  if (confirmations === undefined) return await readEscrowStateAt(client, escrow, id);
  const blockNumber = await settledBlock(client, confirmations);
  const [block, state] = await Promise.all([
    client.getBlock({ blockNumber }),
    readEscrowStateAt(client, escrow, id, blockNumber),
  ]);
  return { ...state, time: Number(block.timestamp) };
}

/** Reads an escrow from its contract, as it is after this block. Default: the latest block. */
export async function readEscrowStateAt(
  client: PublicClient,
  escrow: Address,
  id: Hex,
  blockNumber?: bigint,
): Promise<EscrowState> {
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
