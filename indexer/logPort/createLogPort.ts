import { InvalidInputError } from "tallystick-protocol/errors";
import { byPlace } from "./checkLogs.ts";
import { LogSourceError, OrphanedBlockError } from "./errors.ts";
import { expectAgreement } from "./expectAgreement.ts";
import type {
  BlockRange,
  HistoryRead,
  HistorySource,
  LimitedCall,
  LogPort,
  LogQuery,
  Place,
  TokenLog,
} from "./logPort.ts";
import { openWallets } from "./openWallets.ts";
import { withDeadline } from "./withDeadline.ts";

export type LogPortOptions = {
  /**
   * Reads blocks that are not final, headers and transactions. It also reads history if no other source has
   * it.
   */
  rpc: LogPort & HistorySource;
  /** The sources of final history, the preferred one first. Without any, `rpc` is the source. */
  history?: readonly HistorySource[];
  /**
   * Reads all history from the first two sources (`rpc` counts as the last one) and requires that they agree.
   */
  agree?: boolean;
  /** Called when a source failed and the next source is tried. */
  onFallback?: (failed: LogSourceError, next: string) => void;
};

/**
 * Combines sources to one port. Final history comes from any of them, everything else from the RPC.
 *
 * @throws InvalidInputError when `agree` is set and there is only one source
 */
export function createLogPort({ rpc, history = [], agree = false, onFallback }: LogPortOptions): LogPort {
  if (agree && history.length === 0) {
    throw new InvalidInputError({
      issues: [{ field: "history", message: "must name a source to agree with" }],
    });
  }
  const sources: readonly HistorySource[] = [...history, rpc];
  const name = sources.map((source) => source.name).join(" + ");

  /** Reads from the first source that can answer. */
  async function readFirst(query: LogQuery, range: BlockRange, call: LimitedCall): Promise<HistoryRead> {
    for (const [n, source] of sources.entries()) {
      try {
        return await readChecked(source, query, range, call);
      } catch (error) {
        const next = sources[n + 1];
        if (!(error instanceof LogSourceError) || next === undefined) throw error;
        onFallback?.(error, next.name);
      }
    }
    throw new Error("unreachable: rpc is the last source");
  }

  /** Reads from an indexed source, and checks that its last block is also a block of the RPC's chain. */
  async function readChecked(source: HistorySource, query: LogQuery, range: BlockRange, call: LimitedCall) {
    const read = await source.history(query, range, call);
    if (source === rpc || read.end === null) return read;
    const [header] = await rpc.headers([read.end.block], call);
    if (header?.hash === read.end.hash) return read;
    throw new OrphanedBlockError(source.name, read.end.block, read.end.hash);
  }

  async function readBoth(query: LogQuery, range: BlockRange, call: LimitedCall): Promise<HistoryRead> {
    const [first, second] = sources as [HistorySource, HistorySource];
    const [one, other] = await Promise.all([
      readChecked(first, query, range, call),
      readChecked(second, query, range, call),
    ]);
    expectAgreement([first.name, one], [second.name, other]);
    return one;
  }

  /** The last block that is final for every source that may be asked. */
  async function finalOfAll(call: LimitedCall): Promise<number> {
    const needed = agree ? sources.slice(0, 2) : sources;
    const heads = await Promise.all([...new Set([...needed, rpc])].map((source) => headOf(source, call)));
    return Math.min(...heads);
  }

  /**
   * The head of a source. A source that does not answer does not lower the head of the others, because its
   * reads fail and another source takes over.
   */
  async function headOf(source: HistorySource, call: LimitedCall): Promise<number> {
    try {
      return (await source.finalizedHead(call)).block;
    } catch (error) {
      if (source === rpc || agree || !(error instanceof LogSourceError)) throw error;
      return Infinity;
    }
  }

  async function read(query: LogQuery, place: Place, outer: LimitedCall): Promise<TokenLog[]> {
    if ("hash" in place || history.length === 0) return rpc[query.kind](query.wallets, place, outer);
    if (query.wallets.length === 0 || place.from > place.to) return [];
    return withDeadline(outer, name, async (signal) => {
      const call: LimitedCall = { ...outer, signal };
      const final = await finalOfAll(call);
      const below = { from: place.from, to: Math.min(place.to, final) };
      const above = { from: Math.max(place.from, final + 1), to: place.to };
      const open = openWallets(query, name, outer.limit);
      const readHistory = agree ? readBoth : readFirst;
      if (below.from <= below.to) open.add((await readHistory(query, below, call)).logs);
      if (above.from <= above.to) open.add(await rpc[query.kind](open.wallets, above, call));
      return open.end((logs) => logs.sort(byPlace));
    });
  }

  return {
    name,
    transfersTo: (wallets, place, call) =>
      read({ kind: "transfersTo", wallets }, place, call) as ReturnType<LogPort["transfersTo"]>,
    transfersFrom: (wallets, place, call) =>
      read({ kind: "transfersFrom", wallets }, place, call) as ReturnType<LogPort["transfersFrom"]>,
    authorizationsBy: (wallets, place, call) =>
      read({ kind: "authorizationsBy", wallets }, place, call) as ReturnType<LogPort["authorizationsBy"]>,
    transactionLogs: (hash, asOf, call) => rpc.transactionLogs(hash, asOf, call),
    headers: (blocks, call) => rpc.headers(blocks, call),
    blockLogs: (blocks, call) => rpc.blockLogs(blocks, call),
    finalizedHead: (call) => rpc.finalizedHead(call),
  };
}
