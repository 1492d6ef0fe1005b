import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";

/** The fields of every log event of Ponder. */
type LogEvent = {
  block: { number: bigint; timestamp: bigint };
  log: { address: string; logIndex: number };
  transaction: { hash: Hex };
};

/** The position of a log: block, its time in unix seconds, and the log's index in the block. */
export function placeOf({ block, log }: Pick<LogEvent, "block" | "log">) {
  return { block: Number(block.number), time: Number(block.timestamp), log: log.logIndex };
}

/** An address or hash in the internal spelling: lower case. */
export function lower(hex: string): Address {
  return hex.toLowerCase() as Address;
}

/**
 * An on-chain uint64 as a number. The maker of an event chooses it freely, and above 2^53 it has no exact number. Then
 * the largest safe integer stands for it, and means "later than any clock".
 */
export function clamped(value: bigint): number {
  return value > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : Number(value);
}
