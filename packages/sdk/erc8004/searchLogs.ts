import { ChainError } from "../errors.ts";

/** The most blocks of one request, as public nodes allow. */
const WINDOW = 5_000n;

/** The most requests of one search. */
const MAX_WINDOWS = 2_000;

/**
 * Looks through blocks for logs, the latest first, window by window.
 *
 * @param until gets the found logs, the latest first, and returns true to end the search
 * @returns all logs that were found, the latest first
 * @throws ChainError `search_too_long` when there are more blocks than are searched
 */
export async function searchLogs<Log>(
  range: { fromBlock: bigint; toBlock: bigint; signal?: AbortSignal | undefined },
  read: (window: { fromBlock: bigint; toBlock: bigint }) => Promise<Log[]>,
  until: (found: readonly Log[]) => boolean | Promise<boolean>,
): Promise<Log[]> {
  const found: Log[] = [];
  let { toBlock } = range;
  for (let n = 0; toBlock >= range.fromBlock; n++) {
    if (n === MAX_WINDOWS) {
      throw new ChainError({
        code: "search_too_long",
        message: `The last ${WINDOW * BigInt(MAX_WINDOWS)} blocks do not have it, and no more are searched.`,
        hint: "Nothing was sent. Name the first block of the search (--from-block), or the identity (--agent-id).",
        neverSent: true,
      });
    }
    range.signal?.throwIfAborted();
    const from = toBlock - WINDOW + 1n;
    const fromBlock = from > range.fromBlock ? from : range.fromBlock;
    found.push(...(await read({ fromBlock, toBlock })).reverse());
    if (await until(found)) break;
    toBlock = fromBlock - 1n;
  }
  return found;
}
