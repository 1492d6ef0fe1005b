import type { DeriveEvent, TransferEvent } from "tallystick-derive/events";
import type { Hex } from "tallystick-protocol/hex";
import type {
  BlockAt,
  BlockHeader,
  LimitedCall,
  LogPort,
  Place,
  TokenTransfer,
  UsedAuthorization,
} from "../../../../indexer/logPort/logPort.ts";

export const hashOf = (block: number): Hex => `0x${block.toString(16).padStart(64, "0")}`;

/** A log port in memory over a log that has all transfers. `final` is the last final block. */
export function portOf(log: readonly DeriveEvent[]): LogPort & { final: number; calls: number } {
  const transfers = log.filter((it): it is TransferEvent => it.kind === "transfer").map(tokenTransfer);
  const used = log
    .filter((it): it is TransferEvent => it.kind === "transfer" && it.authorized)
    .map(authorizationOf);
  const byTo = Map.groupBy(transfers, ({ to }) => to);
  const byFrom = Map.groupBy(transfers, ({ from }) => from);
  const byAuthorizer = Map.groupBy(used, ({ authorizer }) => authorizer);
  const times = new Map(log.map(({ block, time }) => [block, time]));
  const blocks = [...times.keys()].sort((a, b) => a - b);

  const header = (block: number): BlockHeader => {
    const known = blocks.findLast((it) => it <= block);
    const time = known === undefined ? 0 : (times.get(known) as number);
    return { block, hash: hashOf(block), parentHash: hashOf(block - 1), time };
  };
  async function find<It extends TokenTransfer | UsedAuthorization>(
    groups: ReadonlyMap<string, It[]>,
    wallets: readonly string[],
    place: Place,
    { limit = Number.POSITIVE_INFINITY }: LimitedCall,
  ): Promise<It[]> {
    port.calls++;
    const range = "hash" in place ? { from: place.block, to: place.block } : place;
    if (range.to > port.final) throw new Error(`Block ${range.to} is not final: it is read by its hash.`);
    return [...new Set(wallets)]
      .flatMap((wallet) =>
        (groups.get(wallet) ?? [])
          .filter(({ block }) => block >= range.from && block <= range.to)
          .slice(0, limit),
      )
      .sort((a, b) => a.block - b.block || a.log - b.log);
  }
  const port: LogPort & { final: number; calls: number } = {
    name: "a port in memory",
    final: 0,
    calls: 0,
    transfersTo: (wallets, place, call) => find(byTo, wallets, place, call),
    transfersFrom: (wallets, place, call) => find(byFrom, wallets, place, call),
    authorizationsBy: (wallets, place, call) => find(byAuthorizer, wallets, place, call),
    transactionLogs: async (tx, asOf) => {
      if (asOf < 0 || asOf > port.final) throw new Error(`There is no final block ${asOf}.`);
      const own = transfers.filter((it) => it.tx === tx && it.block <= asOf);
      const [first] = own;
      if (first === undefined) return null;
      const { block, blockHash } = first;
      const authorizations = used.filter((it) => it.tx === tx && it.block <= asOf);
      return { tx, block, blockHash, transfers: own, authorizations };
    },
    headers: async (wanted) => [...wanted].sort((a, b) => a - b).map(header),
    blockLogs: async (wanted: readonly BlockAt[]) =>
      wanted.map(({ block }) => ({
        transfers: transfers.filter((it) => it.block === block),
        authorizations: used.filter((it) => it.block === block),
      })),
    finalizedHead: async () => ({ block: port.final, hash: hashOf(port.final) }),
  };
  return port;
}

function tokenTransfer({ block, log, tx, from, to, value }: TransferEvent): TokenTransfer {
  return { block, blockHash: hashOf(block), time: null, log, tx, from, to, value: BigInt(value) };
}

function authorizationOf({ block, log, tx, from }: TransferEvent): UsedAuthorization {
  return { block, blockHash: hashOf(block), time: null, log: log - 1, tx, authorizer: from, nonce: tx };
}
