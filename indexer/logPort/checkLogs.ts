import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { BadAnswerError, OrphanedBlockError } from "./errors.ts";
import type { BlockHeader, BlockRange, LogQuery, TokenLog } from "./logPort.ts";
import { KINDS } from "./tokenLogs.ts";

/** The wallet for which a log was requested. */
export const walletOf = (log: TokenLog, kind: LogQuery["kind"]): Address =>
  (log as unknown as { [field: string]: Address })[KINDS[kind].wallet] as Address;

/**
 * Sorts logs by their place in the chain, and checks that they fit the query.
 *
 * @returns the same array
 * @throws BadAnswerError for a block outside of the range, a wallet that was not asked for, a duplicate
 * log, or times that run back; OrphanedBlockError when one block has two hashes, or another hash than in `hashes`
 */
export function checkLogs<Log extends TokenLog>(
  logs: Log[],
  { source, query, range, hashes }: CheckedAgainst,
): Log[] {
  const wallets: ReadonlySet<string> = new Set(query.wallets);
  const { wallet } = KINDS[query.kind];
  logs.sort(byPlace);
  let before: Log | undefined;
  let timed: { block: number; time: number } | undefined;
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
    if (log.time === null) continue;
    if (
      timed !== undefined &&
      (timed.block === log.block ? timed.time !== log.time : timed.time > log.time)
    ) {
      const other = `${timed.time} is the time of block ${timed.block}`;
      throw new BadAnswerError(
        source,
        `logs[${n}].time`,
        `cannot be ${log.time} in block ${log.block}: ${other}`,
      );
    }
    timed = { block: log.block, time: log.time };
  }
  return logs;
}

/**
 * Checks the times of logs by the last block that was read: no log is later than that block.
 *
 * @param logs in the order of the chain, so the last one has the latest time
 * @throws BadAnswerError
 */
export function expectTimesUpTo(source: string, logs: readonly TokenLog[], last: BlockHeader): void {
  const at = logs.findLastIndex(({ time }) => time !== null);
  const { block = 0, time = null } = logs[at] ?? {};
  if (time === null || (block === last.block ? time === last.time : time <= last.time)) return;
  const other = `${last.time} is the time of block ${last.block}`;
  throw new BadAnswerError(source, `logs[${at}].time`, `cannot be ${time} in block ${block}: ${other}`);
}

export type CheckedAgainst = {
  source: string;
  query: LogQuery;
  range: BlockRange;
  /** Known hashes of blocks in the range. */
  hashes?: ReadonlyMap<number, Hex>;
};

export const byPlace = (a: TokenLog, b: TokenLog): number => a.block - b.block || a.log - b.log;
