import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { BadAnswerError, OrphanedBlockError } from "./errors.ts";
import type { BlockRange, LogQuery, TokenLog } from "./logPort.ts";
import { KINDS } from "./tokenLogs.ts";

/** The wallet for which a log was requested. */
export const walletOf = (log: TokenLog, kind: LogQuery["kind"]): Address =>
  (log as unknown as { [field: string]: Address })[KINDS[kind].wallet] as Address;

/**
 * Sorts logs by their place in the chain, and checks that they fit the query.
 *
 * @returns the same array
 * @throws BadAnswerError for a block outside of the range, a wallet that was not asked for, or a duplicate
 * log; OrphanedBlockError when one block has two hashes, or another hash than in `hashes`
 */
export function checkLogs<Log extends TokenLog>(
  logs: Log[],
  { source, query, range, hashes }: CheckedAgainst,
): Log[] {
  const wallets: ReadonlySet<string> = new Set(query.wallets);
  const { wallet } = KINDS[query.kind];
  logs.sort(byPlace);
  let before: Log | undefined;
  for (const [n, log] of logs.entries()) {
    if (log.block < range.from || log.block > range.to) {
      const asked = `must be from ${range.from} to ${range.to}, not ${log.block}`;
      throw new BadAnswerError(source, `logs[${n}].block`, asked);
    }
    if (!wallets.has(walletOf(log, query.kind))) {
      throw new BadAnswerError(source, `logs[${n}].${wallet}`, "is a wallet that was not asked for");
    }
    const known = before?.block === log.block ? before.blockHash : hashes?.get(log.block);
    if (known !== undefined && known !== log.blockHash) {
      throw new OrphanedBlockError(source, log.block, log.blockHash);
    }
    if (before?.block === log.block && before.log === log.log) {
      throw new BadAnswerError(source, `logs[${n}].log`, `comes twice: ${log.log} of block ${log.block}`);
    }
    before = log;
  }
  return logs;
}

export type CheckedAgainst = {
  source: string;
  query: LogQuery;
  range: BlockRange;
  /** Known hashes of blocks in the range. */
  hashes?: ReadonlyMap<number, Hex>;
};

export const byPlace = (a: TokenLog, b: TokenLog): number => a.block - b.block || a.log - b.log;
