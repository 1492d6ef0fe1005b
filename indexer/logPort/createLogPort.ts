import { InvalidInputError } from "tallystick-protocol/errors";
import { byPlace } from "./checkLogs.ts";
import type { LogSourceError } from "./errors.ts";
import type { HistorySource, LimitedCall, LogPort, LogQuery, Place, TokenLog } from "./logPort.ts";
import { openHistory } from "./openHistory.ts";
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
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
};

/**
 * Combines sources to one port. Final history comes from any of them, everything else from the RPC.
 *
 * @throws InvalidInputError when `agree` is set and there is only one source
 */
export function createLogPort({
  rpc,
  history = [],
  agree = false,
  onFallback,
  now = () => performance.now(),
}: LogPortOptions): LogPort {
  if (agree && history.length === 0) {
    throw new InvalidInputError({
      issues: [{ field: "history", message: "must name a source to agree with" }],
    });
  }
  const name = [...history, rpc].map((source) => source.name).join(" + ");
  const final = openHistory({ rpc, history, onFallback, now });

  async function read(query: LogQuery, place: Place, outer: LimitedCall): Promise<TokenLog[]> {
    if ("hash" in place || history.length === 0) return rpc[query.kind](query.wallets, place, outer);
    if (query.wallets.length === 0 || place.from > place.to) return [];
    return withDeadline(outer, name, async (signal) => {
      const call: LimitedCall = { ...outer, signal };
      const open = openWallets(query, name, outer.limit);
      const { logs, next } = await (agree ? final.readBoth : final.readFirst)(query, place, call);
      open.add(logs);
      if (next <= place.to) open.add(await rpc[query.kind](open.wallets, { ...place, from: next }, call));
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
