import type { Hex } from "tallystick-protocol/hex";
import { OrphanedBlockError } from "../logPort/errors.ts";
import type { BlockAt, BlockHeader, BlockLogs, LogPort } from "../logPort/logPort.ts";
import type { RetryRead } from "./retryRead.ts";

/** A block that a reorg may still undo, with all logs of the token in it. */
export type RecentBlock = BlockHeader & BlockLogs;

/** The number of blocks that are kept: some more than Base has above its finalized block. */
const MAX_KEPT = 4_000;

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
    const known: RecentBlock[] = [];
    let next = { block, hash };
    while (next.block >= from) {
      const kept = this.#kept.get(next.hash);
      if (kept === undefined) break;
      known.push(kept);
      next = { block: kept.block - 1, hash: kept.parentHash };
    }
    const read: RecentBlock[] = [];
    while (next.block >= from) {
      const first = Math.max(from, next.block - TOGETHER + 1);
      const blocks = await retryRead((call) => this.#read(first, next, call));
      read.push(...blocks.toReversed());
      next = { block: first - 1, hash: (blocks[0] as RecentBlock).parentHash };
    }
    // The blocks nearest to the head are kept longest.
    for (const it of read.toReversed()) this.#keep(it);
    return [...known, ...read].reverse();
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

  #keep(block: RecentBlock): void {
    this.#kept.set(block.hash, block);
    const oldest = this.#kept.size > MAX_KEPT ? this.#kept.keys().next().value : undefined;
    if (oldest !== undefined) this.#kept.delete(oldest);
  }
}
