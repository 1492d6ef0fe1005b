import type { Hex } from "tallystick-protocol/hex";
import { OrphanedBlockError } from "../logPort/errors.ts";
import type { BlockAt, BlockHeader, BlockLogs, LogPort } from "../logPort/logPort.ts";
import type { RetryRead } from "./retryRead.ts";

/** A block that a reorg may still undo, with all logs of the token in it. */
export type RecentBlock = BlockHeader & BlockLogs;

/**
 * When more blocks than this are kept, those that are final by now are dropped. Base has somewhat fewer blocks above
 * its finalized block.
 */
const MANY_KEPT = 4_000;

/** The number of blocks in one request. */
const TOGETHER = 200;

/** The blocks that are not final, by hash. The content of a block with one hash is the same on every fork. */
export class RecentBlocks {
  readonly #port: Pick<LogPort, "name" | "headers" | "blockLogs">;
  readonly #kept = new Map<Hex, RecentBlock>();

  constructor(port: Pick<LogPort, "name" | "headers" | "blockLogs">) {
    this.#port = port;
  }

  /**
   * The blocks from `from` up to a given block, in order.
   *
   * @throws OrphanedBlockError where the source has other blocks than these
   */
  async upTo({ block, hash }: BlockAt, from: number, retryRead: RetryRead): Promise<RecentBlock[]> {
    const found: RecentBlock[] = [];
    let next = { block, hash };
    while (next.block >= from) {
      const kept = this.#kept.get(next.hash);
      const blocks = kept === undefined ? await this.#readDown(next, from, retryRead) : [kept];
      found.push(...blocks.toReversed());
      const { block: first, parentHash } = blocks[0] as RecentBlock;
      next = { block: first - 1, hash: parentHash };
    }
    this.#dropBelow(from);
    return found.reverse();
  }

  /**
   * Reads a block and the blocks below it, in one step, down to the nearest block that is kept. After a reorg that
   * block has another hash, and the next step reads it too.
   */
  async #readDown(last: BlockAt, from: number, retryRead: RetryRead): Promise<RecentBlock[]> {
    let first = Math.max(from, last.block - TOGETHER + 1);
    for (const { block } of this.#kept.values()) if (block < last.block) first = Math.max(first, block + 1);
    const read = await retryRead((call) => this.#read(first, last, call));
    // The content of a block with this hash never changes, so it stays if a later step fails.
    for (const it of read) this.#kept.set(it.hash, it);
    return read;
  }

  async #read(from: number, last: BlockAt, call: Parameters<LogPort["headers"]>[1]): Promise<RecentBlock[]> {
    const numbers = Array.from({ length: last.block - from + 1 }, (_, n) => from + n);
    const headers = await this.#port.headers(numbers, call);
    if (headers.at(-1)?.hash !== last.hash) {
      throw new OrphanedBlockError(this.#port.name, last.block, last.hash);
    }
    const logs = await this.#port.blockLogs(headers, call);
    return headers.map((header, n) => ({ ...header, ...(logs[n] as BlockLogs) }));
  }

  /**
   * The blocks from `from` on are needed again for the next event. There may be very many while the chain makes no
   * block final.
   */
  #dropBelow(from: number): void {
    if (this.#kept.size <= MANY_KEPT) return;
    for (const [hash, { block }] of this.#kept) if (block < from) this.#kept.delete(hash);
  }
}
