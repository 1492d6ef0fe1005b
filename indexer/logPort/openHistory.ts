import { expectTimesUpTo } from "./checkLogs.ts";
import { LogSourceError, OrphanedBlockError } from "./errors.ts";
import { expectAgreement } from "./expectAgreement.ts";
import type { BlockRange, HistorySource, LimitedCall, LogPort, LogQuery, TokenLog } from "./logPort.ts";
import { openRests } from "./rests.ts";
import { withDeadline } from "./withDeadline.ts";

export type HistoryOptions = {
  rpc: LogPort & HistorySource;
  history: readonly HistorySource[];
  onFallback: ((failed: LogSourceError, next: string) => void) | undefined;
  now: () => number;
};

/** Logs of the blocks that were read, and the block after them. */
export type Part = { logs: TokenLog[]; next: number };

/** Reads final history from several sources. The RPC is one of them. */
export function openHistory({ rpc, history, onFallback, now }: HistoryOptions) {
  const rests = openRests(now);

  /**
   * Reads from the first source that can answer. No source may take all of the time. Each gets half of the time that
   * is left, and the last source gets all of it.
   */
  async function readFirst(query: LogQuery, place: BlockRange, call: LimitedCall): Promise<Part> {
    const over = now() + call.deadlineMs;
    const order = inTurn();
    for (const [n, source] of order.entries()) {
      const next = order[n + 1];
      const began = now();
      const left = Math.max(1, Math.ceil(over - began));
      const deadlineMs = next === undefined ? left : Math.ceil(left / 2);
      try {
        const part = await withDeadline({ signal: call.signal, deadlineMs }, source.name, (signal) =>
          readPart(source, query, place, { ...call, signal, deadlineMs }),
        );
        rests.answered(source);
        return part;
      } catch (error) {
        if (!(error instanceof LogSourceError)) throw error;
        if (source !== rpc) rests.failed(source, now() - began);
        if (next === undefined) throw error;
        onFallback?.(error, next.name);
      }
    }
    throw new Error("unreachable: rpc is one of the sources");
  }

  /** All sources in the order in which they are asked. A source that failed a moment ago comes after the RPC. */
  function inTurn(): HistorySource[] {
    const resting = history.filter((source) => rests.isResting(source));
    return [...history.filter((source) => !resting.includes(source)), rpc, ...resting];
  }

  /** Reads the blocks that are final for one source and for the RPC. */
  async function readPart(
    source: HistorySource,
    query: LogQuery,
    { from, to }: BlockRange,
    call: LimitedCall,
  ): Promise<Part> {
    const below = { from, to: Math.min(to, await finalOf([source], call)) };
    if (below.from > below.to) return { logs: [], next: from };
    const { logs } = await readChecked(source, query, below, call);
    return { logs, next: below.to + 1 };
  }

  /**
   * Reads from an indexed source. Checks that its last block is also a block of the RPC's chain, and that no log is
   * later than that block.
   */
  async function readChecked(source: HistorySource, query: LogQuery, range: BlockRange, call: LimitedCall) {
    const read = await source.history(query, range, call);
    if (source === rpc || read.end === null) return read;
    const [header] = await rpc.headers([read.end.block], call);
    if (header?.hash !== read.end.hash) {
      throw new OrphanedBlockError(source.name, read.end.block, read.end.hash);
    }
    expectTimesUpTo(source.name, read.logs, header);
    return read;
  }

  /** Reads the blocks that are final for the first two sources, which must agree. */
  async function readBoth(query: LogQuery, { from, to }: BlockRange, call: LimitedCall): Promise<Part> {
    const [first = rpc, second = rpc] = history;
    const below = { from, to: Math.min(to, await finalOf([first, second], call)) };
    if (below.from > below.to) return { logs: [], next: from };
    const [one, other] = await Promise.all([
      readChecked(first, query, below, call),
      readChecked(second, query, below, call),
    ]);
    expectAgreement([first.name, one], [second.name, other]);
    return { logs: one.logs, next: below.to + 1 };
  }

  /** The last block that is final for all of these sources and for the RPC. */
  async function finalOf(sources: readonly HistorySource[], call: LimitedCall): Promise<number> {
    const heads = await Promise.all([...new Set([...sources, rpc])].map((it) => it.finalizedHead(call)));
    return Math.min(...heads.map(({ block }) => block));
  }

  return { readFirst, readBoth };
}
