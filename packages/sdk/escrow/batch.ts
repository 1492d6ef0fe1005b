import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import {
  decodeErrorResult,
  encodeFunctionData,
  hexToBytes,
  parseEventLogs,
  size,
  type TransactionReceipt,
} from "viem";

/** Gas for an item: several times what a verb takes, also when a refused payment becomes a credit. */
export const GAS_EACH = 500_000n;

/** Gas for an item in which a contract wallet verifies (ERC-1271). */
export const GAS_EACH_CONTRACT = 1_000_000n;

/** No batch asks for more gas. It is below the limit of a transaction (EIP-7825, 16,777,216). */
export const MAX_BATCH_GAS = 16_000_000n;

/** An item that failed and changed nothing: the contract's error, if it is one, and the returned bytes. */
export type FailedItem = { index: number; error: string | undefined; reason: Hex };

/** The result of a batch. Items from `tried` on did not run: the gas was not enough. */
export type BatchOutcome = {
  transactionHash: Hex;
  blockNumber: bigint;
  gasUsed: bigint;
  tried: number;
  failed: FailedItem[];
};

/**
 * The gas to send with a batch, at most {@link MAX_BATCH_GAS}. It is enough for every item to use all of its own gas.
 * It must be set, because a node's estimate is too low. A batch that stops early does not fail, so the node may
 * estimate a batch that does nothing.
 */
export function batchGas(calls: readonly Hex[], gasEach: bigint): bigint {
  // The sum of three costs: calldata at its highest price, 40 gas a byte (EIP-7623); the gas that a call keeps back;
  // and the gas that the contract uses around the calls.
  const bytes = calls.reduce((sum, call) => sum + size(call) + 96, 0);
  const each = gasEach + gasEach / 63n + 8_000n;
  const all = 60_000n + 40n * BigInt(bytes) + BigInt(calls.length) * each;
  return all < MAX_BATCH_GAS ? all : MAX_BATCH_GAS;
}

/** The base cost of every transaction, in gas. */
const TRANSACTION_GAS = 21_000;

/** The gas of a batch's transaction without its execution: the base cost, and the bytes of the call (EIP-2028). */
export function intrinsicGas(calls: readonly Hex[], gasEach: bigint): number {
  const data = encodeFunctionData({ abi: hireEscrowAbi, functionName: "batch", args: [calls, gasEach] });
  return hexToBytes(data).reduce((sum, byte) => sum + (byte === 0 ? 4 : 16), TRANSACTION_GAS);
}

/** Reads the results of a batch of `count` items from the contract's own events. */
export function readBatchOutcome(receipt: TransactionReceipt, escrow: Address, count: number): BatchOutcome {
  const own = receipt.logs.filter(({ address }) => address.toLowerCase() === escrow);
  const logs = parseEventLogs({ abi: hireEscrowAbi, logs: own, eventName: ["ItemFailed", "BatchStopped"] });
  const failed: FailedItem[] = [];
  let tried = count;
  for (const { eventName, args } of logs) {
    if (eventName === "BatchStopped") tried = Number(args.index);
    else failed.push({ index: Number(args.index), error: errorName(args.reason), reason: args.reason });
  }
  const { transactionHash, blockNumber, gasUsed } = receipt;
  return { transactionHash, blockNumber, gasUsed, tried, failed };
}

/** The name of one of the contract's own errors. A wallet or a token may have returned anything. */
function errorName(reason: Hex): string | undefined {
  try {
    return decodeErrorResult({ abi: hireEscrowAbi, data: reason }).errorName;
  } catch {
    return undefined;
  }
}
