import type { Address } from "tallystick-protocol/address";
import { walletOf } from "./checkLogs.ts";
import { TooManyLogsError } from "./errors.ts";
import type { LogQuery, TokenLog } from "./logPort.ts";

/** The most logs that one call may collect, which need about a gigabyte. */
export const MAX_LOGS = 2_000_000;

/**
 * Collects the logs for a query, in any order, and knows which wallets already have enough. Ranges must be started in
 * ascending order. Then the first `limit` logs of each wallet are complete: the wallet was still open when the ranges
 * with these logs were requested.
 */
export function openWallets({ kind, wallets }: LogQuery, source: string, limit = Infinity, most = MAX_LOGS) {
  const counts = new Map<string, number>();
  const gathered: TokenLog[] = [];
  let open: Address[] = [...new Set(wallets)];

  return {
    /** The wallets whose logs are still wanted. */
    get wallets(): readonly Address[] {
      return open;
    },
    add(logs: readonly TokenLog[]): void {
      let full = false;
      for (const log of logs) {
        const wallet = walletOf(log, kind);
        const count = (counts.get(wallet) ?? 0) + 1;
        counts.set(wallet, count);
        if (count === limit) full = true;
        gathered.push(log);
      }
      if (gathered.length > most) throw new TooManyLogsError(source, most);
      if (full) open = open.filter((wallet) => (counts.get(wallet) ?? 0) < limit);
    },
    /** All collected logs without those above the limit. `sort` must put them in order. */
    end(sort: (logs: TokenLog[]) => TokenLog[]): TokenLog[] {
      const sorted = sort(gathered);
      if (limit === Infinity) return sorted;
      const taken = new Map<string, number>();
      return sorted.filter((log) => {
        const wallet = walletOf(log, kind);
        const count = (taken.get(wallet) ?? 0) + 1;
        taken.set(wallet, count);
        return count <= limit;
      });
    },
  };
}
