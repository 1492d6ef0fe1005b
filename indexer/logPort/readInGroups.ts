import { checkLogs } from "./checkLogs.ts";
import { OrphanedBlockError } from "./errors.ts";
import type { BlockAt, BlockRange, HistoryRead, LogQuery } from "./logPort.ts";
import { openWallets } from "./openWallets.ts";

/**
 * Reads a range for any number of wallets, in groups that fit into one request.
 *
 * @param read reads the range for one group
 * @throws OrphanedBlockError when two groups come from two chains
 */
export async function readInGroups(
  query: LogQuery,
  range: BlockRange,
  { source, size }: { source: string; size: number },
  read: (some: LogQuery) => Promise<HistoryRead>,
): Promise<HistoryRead> {
  const all = openWallets(query, source);
  const { wallets } = all;
  let end: BlockAt | null = null;
  for (let n = 0; n < wallets.length; n += size) {
    const group = await read({ ...query, wallets: wallets.slice(n, n + size) });
    all.add(group.logs);
    if (end !== null && end.block === group.end?.block && end.hash !== group.end.hash) {
      throw new OrphanedBlockError(source, end.block, end.hash);
    }
    if (end === null || (group.end !== null && group.end.block > end.block)) end = group.end;
  }
  return { logs: all.end((logs) => checkLogs(logs, { source, query, range })), end };
}
