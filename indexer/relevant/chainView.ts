import type { TransferEvent } from "tallystick-derive/events";
import type { Place } from "tallystick-derive/place";
import type { Address } from "tallystick-protocol/address";
import type { BlockAt, LogPort, TokenTransfer } from "../logPort/logPort.ts";
import { FinalTransfers } from "./finalTransfers.ts";
import { type RecentBlock, RecentBlocks } from "./recentBlocks.ts";
import type { ReadOnce, RetryRead } from "./retryRead.ts";

/** After every log of a block. */
export const END = 2 ** 40;

/** The finalized head is requested again after this many blocks. */
const ASK_AGAIN = 32;

/** The token's transfers up to one block. */
export type ChainView = {
  head: BlockAt;
  token: Address;
  firstBlock: number;
  /** Up to this block transfers are read by range. Later ones are in `recent`, up to the head. */
  final: number;
  /** The last known final block, which may be behind the head. */
  finalizedHead: BlockAt;
  recent: readonly RecentBlock[];
  transfers: FinalTransfers;
  retryRead: RetryRead;
  readOnce: ReadOnce;
};

export type ChainTransfersOptions = { port: LogPort; token: Address; firstBlock: number; readOnce: ReadOnce };

/** Opens views of the chain. What it remembers is keyed by block hashes, or belongs to final blocks. */
export class ChainTransfers {
  readonly #port: LogPort;
  readonly #token: Address;
  readonly #firstBlock: number;
  readonly #readOnce: ReadOnce;
  readonly #transfers: FinalTransfers;
  readonly #recent: RecentBlocks;
  #final: BlockAt = { block: -1, hash: "0x" };
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor({ port, token, firstBlock, readOnce }: ChainTransfersOptions) {
    this.#readOnce = readOnce;
    this.#port = port;
    this.#token = token;
    this.#firstBlock = firstBlock;
    this.#transfers = new FinalTransfers(port, firstBlock);
    this.#recent = new RecentBlocks(port);
  }

  /** @throws OrphanedError when the block is gone from the chain, through `retryRead` */
  async at(head: BlockAt, retryRead: RetryRead): Promise<ChainView> {
    if (head.block > this.#final.block && head.block >= this.#askedAt + ASK_AGAIN) {
      const now = await retryRead((call) => this.#port.finalizedHead(call));
      if (now.block > this.#final.block) this.#final = now;
      this.#askedAt = head.block;
    }
    const final = Math.min(this.#final.block, head.block);
    const first = Math.max(final + 1, this.#firstBlock);
    return {
      head,
      token: this.#token,
      firstBlock: this.#firstBlock,
      final,
      finalizedHead: this.#final,
      recent: first > head.block ? [] : await this.#recent.upTo(head, first, retryRead),
      transfers: this.#transfers,
      retryRead,
      readOnce: this.#readOnce,
    };
  }
}

/** A transfer, in the form of its log. */
export function transferEvent(
  { block, time, log, from, to, value, tx }: TokenTransfer & { time: number },
  token: Address,
  authorized = false,
): TransferEvent {
  return { block, time, log, kind: "transfer", token, from, to, value: String(value), tx, authorized };
}

/** Whether `place` is after `after` and before `before`. Without `after`, only `before` counts. */
export function isBetween(place: Place, after: Place | null, before: Place): boolean {
  const isAfter =
    after === null || place.block > after.block || (place.block === after.block && place.log > after.log);
  return isAfter && (place.block < before.block || (place.block === before.block && place.log < before.log));
}
