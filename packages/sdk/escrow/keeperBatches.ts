import { hireEscrowAbi } from "tallystick-protocol/abi/hireEscrowAbi";
import type { Hire } from "tallystick-protocol/escrow/hire";
import type { Hex } from "tallystick-protocol/hex";
import { decodeFunctionData } from "viem";
import type { BatchOutcome } from "./batch.ts";
import type { EscrowCalls } from "./escrowCalls.ts";

export type KeeperBatches = {
  /** Finds the batches of an earlier process that may still be mined, once. If it fails, the next call tries again. */
  open: () => Promise<void>;
  /** Whether an item under this key is in a batch that may still be mined. */
  isOnItsWay: (key: string) => boolean;
  /**
   * Sends a batch, and waits without a limit until it is mined. Nobody else sends its items until then.
   *
   * @throws ChainError
   */
  send: (items: readonly { key: string; call: Hex }[], gasEach: bigint) => Promise<BatchOutcome>;
};

/**
 * The batches of one keeper. While a batch may still be mined, its items are in no other batch: the second one would
 * only cost gas. The sender sends a batch again at a higher price until it is mined.
 */
export function createKeeperBatches(calls: EscrowCalls): KeeperBatches {
  /** How many batches have an item of this key. */
  const onTheirWay = new Map<string, number>();
  let opened: Promise<void> | undefined;

  async function hold(keys: readonly string[], until: Promise<unknown>): Promise<void> {
    for (const key of keys) onTheirWay.set(key, (onTheirWay.get(key) ?? 0) + 1);
    await until.catch(() => {});
    for (const key of keys) {
      const left = (onTheirWay.get(key) ?? 0) - 1;
      if (left > 0) onTheirWay.set(key, left);
      else onTheirWay.delete(key);
    }
  }

  async function findEarlier(): Promise<void> {
    for (const { items, mined } of await calls.unminedBatches()) {
      void hold(
        items.map((call) => keyOf(call, calls)),
        mined,
      );
    }
  }

  return {
    open: () => {
      opened ??= findEarlier().catch((error: unknown) => {
        opened = undefined;
        throw error;
      });
      return opened;
    },
    isOnItsWay: (key) => onTheirWay.has(key),
    send: async (items, gasEach) => {
      const outcome = calls.batch(
        items.map(({ call }) => call),
        gasEach,
        Number.POSITIVE_INFINITY,
      );
      await hold(
        items.map(({ key }) => key),
        outcome,
      );
      return await outcome;
    },
  };
}

/** What the keys of calls begin with. */
const KEYS: { [functionName: string]: string } = {
  depositWithAuthorization: "deposit",
  markDelivered: "delivered",
  release: "release",
  refund: "refund",
  timeoutRefund: "watch",
};

/**
 * The key of a call: what it does to which escrow, and for a refund also who signed it. The signature itself does
 * not matter.
 */
export function keyOf(call: Hex, { idOf }: Pick<EscrowCalls, "idOf">): string {
  const { functionName, args } = decodeFunctionData({ abi: hireEscrowAbi, data: call });
  const id = idOf((args as unknown as [Hire])[0]);
  const signer = functionName === "refund" ? `.${args[1].toLowerCase()}` : "";
  return `${KEYS[functionName] ?? functionName}/${id}${signer}`;
}

/** Cuts a list into parts of this size. */
export function chunksOf<T>(all: readonly T[], size: number): T[][] {
  const chunks: T[][] = [];
  for (let at = 0; at < all.length; at += size) chunks.push(all.slice(at, at + size));
  return chunks;
}
