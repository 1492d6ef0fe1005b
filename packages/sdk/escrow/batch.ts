import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { decodeErrorResult, parseEventLogs, size, type TransactionReceipt } from "viem";

/** Gas for an item: several times what a verb takes, also when a payment is refused and becomes a credit. */
export const GAS_EACH = 500_000n;

/** Gas for an item in which a contract wallet verifies (ERC-1271). */
export const GAS_EACH_CONTRACT = 1_000_000n;

/** No transaction asks for more: below the limit of a transaction (EIP-7825, 16,777,216). */
export const MAX_BATCH_GAS = 16_000_000n;

/** An item that failed and changed nothing: the contract's error, if it is one, and what was returned. */
export type FailedItem = { index: number; error: string | undefined; reason: Hex };

/** What a batch did. Items from `tried` on were not run: the gas did not reach. */
export type BatchOutcome = { transactionHash: Hex; gasUsed: bigint; tried: number; failed: FailedItem[] };

/**
 * The gas to send with a batch, so that every item could use all of its own, at most {@link MAX_BATCH_GAS}. It has to be
 * said: a batch that stops is no failure, and so a node's own estimate is the gas of one that does nothing.
 */
export function batchGas(calls: readonly Hex[], gasEach: bigint): bigint {
  // Calldata at its dearest, 40 a byte (EIP-7623), what a call keeps back, and what the contract does around it.
  const bytes = calls.reduce((sum, call) => sum + size(call) + 96, 0);
  const each = gasEach + gasEach / 63n + 8_000n;
  const all = 60_000n + 40n * BigInt(bytes) + BigInt(calls.length) * each;
  return all < MAX_BATCH_GAS ? all : MAX_BATCH_GAS;
}

/** Reads what became of a batch of `count` items from the contract's own events. */
export function readBatchOutcome(receipt: TransactionReceipt, escrow: Address, count: number): BatchOutcome {
  const own = receipt.logs.filter(({ address }) => address.toLowerCase() === escrow);
  const logs = parseEventLogs({ abi: hireEscrowAbi, logs: own, eventName: ["ItemFailed", "BatchStopped"] });
  const failed: FailedItem[] = [];
  let tried = count;
  for (const { eventName, args } of logs) {
    if (eventName === "BatchStopped") tried = Number(args.index);
    else failed.push({ index: Number(args.index), error: errorName(args.reason), reason: args.reason });
  }
  return { transactionHash: receipt.transactionHash, gasUsed: receipt.gasUsed, tried, failed };
}

/** The name of one of the contract's own errors; a wallet or a token may have said anything. */
function errorName(reason: Hex): string | undefined {
  try {
    return decodeErrorResult({ abi: hireEscrowAbi, data: reason }).errorName;
  } catch {
    return undefined;
  }
}
