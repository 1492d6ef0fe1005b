import type { Hex } from "tallystick-protocol/hex";
import { within } from "../deadline.ts";
import { ChainError } from "../errors.ts";
import type { BatchOutcome } from "./batch.ts";
import type { EscrowCalls } from "./escrowCalls.ts";

/** How long a batch may take until it is mined, in milliseconds. After that its items may be sent again. */
const BATCH_MS = 150_000;

export type KeeperBatches = {
  /** Whether an item under this key is on its way. */
  isOnItsWay: (key: string) => boolean;
  /** Sends a batch. Nobody else sends its items until its result is known. @throws ChainError */
  send: (items: readonly { key: string; call: Hex }[], gasEach: bigint) => Promise<BatchOutcome>;
};

/**
 * The batches of one keeper. While a batch waits, its items are in no other batch. A batch that is not mined
 * within `batchMs` counts as failed, and its items may be sent again.
 */
export function createKeeperBatches(calls: EscrowCalls, batchMs = BATCH_MS): KeeperBatches {
  const onTheirWay = new Set<string>();
  return {
    isOnItsWay: (key) => onTheirWay.has(key),
    send: async (items, gasEach) => {
      for (const { key } of items) onTheirWay.add(key);
      try {
        const sent = calls.batch(
          items.map(({ call }) => call),
          gasEach,
        );
        // A caller that stopped waiting does not get its error.
        sent.catch(() => {});
        const outcome = await within(sent, batchMs);
        if (outcome !== undefined) return outcome;
        throw new ChainError({
          code: "chain_unreachable",
          message: `A batch of ${items.length} was not mined within ${batchMs / 1_000} s.`,
          hint: "The keeper checks it again.",
        });
      } finally {
        for (const { key } of items) onTheirWay.delete(key);
      }
    },
  };
}

/** Cuts a list into parts of this size. */
export function chunksOf<T>(all: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < all.length; at += size) chunks.push(all.slice(at, at + size));
  return chunks;
}
