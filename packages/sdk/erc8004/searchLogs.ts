/** Blocks that are searched with one question: what public nodes allow. */
const WINDOW = 5_000n;

/** Most questions of one search. */
const MOST_WINDOWS = 2_000;

/**
 * Looks through blocks for logs, the latest first, window by window.
 *
 * @param until is told what was found, the latest first; true ends the search
 */
export async function searchLogs<Log>(
  range: { fromBlock: bigint; toBlock: bigint; signal?: AbortSignal | undefined },
  read: (window: { fromBlock: bigint; toBlock: bigint }) => Promise<Log[]>,
  until: (found: readonly Log[]) => boolean,
): Promise<Log[]> {
  const found: Log[] = [];
  let { toBlock } = range;
  for (let n = 0; n < MOST_WINDOWS && toBlock >= range.fromBlock; n++) {
    range.signal?.throwIfAborted();
    const from = toBlock - WINDOW + 1n;
    const fromBlock = from > range.fromBlock ? from : range.fromBlock;
    found.push(...(await read({ fromBlock, toBlock })).reverse());
    if (until(found)) break;
    toBlock = fromBlock - 1n;
  }
  return found;
}
