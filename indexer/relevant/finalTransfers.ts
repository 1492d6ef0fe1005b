import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { byPlace } from "../logPort/checkLogs.ts";
import { OrphanedBlockError, TooManyLogsError } from "../logPort/errors.ts";
import type {
  BlockRange,
  Call,
  LogPort,
  LogQuery,
  TokenTransfer,
  TransactionLogs,
} from "../logPort/logPort.ts";
import { openWallets } from "../logPort/openWallets.ts";
import { LatestUsed } from "./latestUsed.ts";
import type { RetryRead } from "./retryRead.ts";

/**
 * The number of blocks in one call. A long history is read in several calls, so a failed call loses only its
 * own part.
 */
const STEP = 500_000;

/** The most wallets of one call: an RPC accepts this many in one request. */
const WALLETS = 1_000;

/** The number of headers in one call. */
const HEADERS = 1_000;

/** The most transfers, block times and transactions that stay in memory. */
export const MAX_TRANSFERS = 500_000;
const MAX_TIMES = 200_000;
const MAX_TRANSACTIONS = 20_000;

/** The most wallets of which the number of transfers stays in memory. It takes much less memory than the transfers. */
const MAX_COUNTS = 300_000;

/**
 * The first transfers of a wallet, all of them up to the block `upTo`. If reading stopped at a limit, the list also has the
 * first transfers of the block after that.
 */
type First = { upTo: number; transfers: readonly TokenTransfer[] };

/** A wallet sent this many transfers up to the block `upTo`. `spent` is the first of them that is not empty. */
export type Sent = { upTo: number; transfers: number; spent: TokenTransfer | null };

type Side = "transfersTo" | "transfersFrom";

/**
 * Reads the token's transfers in final blocks, and keeps what it read in memory. Final blocks never change.
 */
export class FinalTransfers {
  readonly #port: LogPort;
  readonly #firstBlock: number;
  readonly #first = {
    transfersTo: new LatestUsed<First>(MAX_TRANSFERS, ({ transfers }) => 1 + transfers.length),
    transfersFrom: new LatestUsed<First>(MAX_TRANSFERS, ({ transfers }) => 1 + transfers.length),
  };
  readonly #sent = new LatestUsed<Sent>(MAX_COUNTS);
  readonly #times = new LatestUsed<number>(MAX_TIMES);
  readonly #transactions = new LatestUsed<TransactionLogs>(MAX_TRANSACTIONS);
  #numberRead = 0;

  /** @param firstBlock the first block of the token, or an earlier one */
  constructor(port: LogPort, firstBlock: number) {
    this.#port = port;
    this.#firstBlock = firstBlock;
  }

  /** The number of transfers that were read so far. */
  get numberRead(): number {
    return this.#numberRead;
  }

  /** The first `limit` transfers that reached each of these wallets in a range, in the order of the chain. */
  to(
    wallets: readonly Address[],
    range: BlockRange,
    limit: number,
    retryRead: RetryRead,
  ): Promise<TokenTransfer[]> {
    return this.#read({ kind: "transfersTo", wallets }, range, limit, retryRead);
  }

  /**
   * At least the first `limit` transfers of each of these wallets, from the token's first block up to `upTo`. If a
   * wallet has fewer, all of its transfers. Nothing is read twice.
   */
  async first(
    kind: Side,
    wallets: readonly Address[],
    upTo: number,
    limit: number,
    retryRead: RetryRead,
  ): Promise<Map<Address, readonly TokenTransfer[]>> {
    const kept = this.#first[kind];
    const nothing: First = { upTo: this.#firstBlock - 1, transfers: [] };
    const known = new Map(wallets.map((it) => [it, kept.get(it) ?? nothing]));
    const missing = [...known].filter(([, it]) => it.upTo < upTo && it.transfers.length < limit);
    for (const group of sharedReads(missing, upTo)) {
      const query: LogQuery = { kind, wallets: group.map(([wallet]) => wallet) };
      const [[, { upTo: last }]] = group;
      const read = await this.#read(query, { from: last + 1, to: upTo }, limit, retryRead);
      const own = Map.groupBy(read, (it) => (kind === "transfersTo" ? it.to : it.from));
      for (const [wallet, before] of group) {
        const further = own.get(wallet) ?? [];
        const isCut = further.length >= limit;
        // The last block of a list that was cut at the limit may have more transfers.
        const end = isCut ? (further.at(-1) as TokenTransfer).block - 1 : upTo;
        const first = {
          upTo: Math.max(before.upTo, end),
          transfers: [
            ...before.transfers.filter(({ block }) => block <= before.upTo),
            ...further.filter(({ block }) => block > before.upTo),
          ],
        };
        known.set(wallet, first);
        // Another read of the same wallet may have gone farther meanwhile.
        if ((kept.get(wallet)?.upTo ?? -1) <= first.upTo) kept.set(wallet, first);
        if (kind === "transfersFrom" && !isCut) this.#noteSent(wallet, first);
      }
    }
    return new Map([...known].map(([wallet, { transfers }]) => [wallet, transfers]));
  }

  /** Whether `first` needs no request for this wallet. */
  isKnown(kind: Side, wallet: Address, upTo: number, limit: number): boolean {
    const known = this.#first[kind].get(wallet);
    return known !== undefined && (known.upTo >= upTo || known.transfers.length >= limit);
  }

  /**
   * What is known, without a request, of all transfers that a wallet sent up to the block `upTo`, or up to a later one. This
   * stays in memory longer than the transfers.
   */
  sent(wallet: Address, upTo: number): Sent | undefined {
    const known = this.#sent.get(wallet);
    return known !== undefined && known.upTo >= upTo ? known : undefined;
  }

  /** Whether it is known, without a request, that a wallet sent fewer than `limit` transfers up to the block `upTo`. */
  sentFewer(wallet: Address, upTo: number, limit: number): boolean {
    const known = this.sent(wallet, upTo);
    return known !== undefined && known.transfers < limit;
  }

  /** The logs of a transaction in a block up to `asOf`; null when there is none. */
  async transaction(hash: Hex, asOf: number, retryRead: RetryRead): Promise<TransactionLogs | null> {
    const known = this.#transactions.get(hash);
    if (known !== undefined) return known.block <= asOf ? known : null;
    const read = await retryRead((call) => this.#port.transactionLogs(hash, asOf, call));
    if (read !== null) this.#transactions.set(hash, read);
    return read;
  }

  /**
   * The senders' authorizations in a range, as `<block>/<log>/<authorizer>/<transaction>`.
   *
   * @throws TooManyLogsError when there are more than one call may hold. Then ask for fewer blocks
   */
  async authorizations(
    senders: readonly Address[],
    range: BlockRange,
    retryRead: RetryRead,
  ): Promise<Set<string>> {
    const found = new Set<string>();
    for (let n = 0; n < senders.length; n += WALLETS) {
      const some = senders.slice(n, n + WALLETS);
      const used = await readOrTooMany(retryRead, (call) => this.#port.authorizationsBy(some, range, call));
      for (const { block, log, authorizer, tx } of used) found.add(`${block}/${log}/${authorizer}/${tx}`);
    }
    return found;
  }

  /** Adds to each transfer the time of its block. */
  async withTimes<It extends { block: number; blockHash: Hex; time: number | null }>(
    logs: readonly It[],
    retryRead: RetryRead,
  ): Promise<(It & { time: number })[]> {
    const hashes = new Map(logs.filter(({ time }) => time === null).map((it) => [it.block, it.blockHash]));
    const times = new Map<number, number>();
    for (const [block, hash] of hashes) {
      const known = this.#times.get(hash);
      if (known !== undefined) times.set(block, known);
    }
    const missing = [...hashes.keys()].filter((block) => !times.has(block));
    for (let n = 0; n < missing.length; n += HEADERS) {
      const some = missing.slice(n, n + HEADERS);
      for (const { block, hash, time } of await retryRead((call) => this.#headersOf(some, hashes, call))) {
        times.set(block, time);
        this.#times.set(hash, time);
      }
    }
    return logs.map((log) => ({ ...log, time: log.time ?? (times.get(log.block) as number) }));
  }

  #noteSent(wallet: Address, { upTo, transfers }: First): void {
    if ((this.#sent.get(wallet)?.upTo ?? -1) > upTo) return;
    const spent = transfers.find(({ value }) => value > 0n) ?? null;
    this.#sent.set(wallet, { upTo, transfers: transfers.length, spent });
  }

  async #headersOf(blocks: readonly number[], hashes: ReadonlyMap<number, Hex>, call: Call) {
    const headers = await this.#port.headers(blocks, call);
    for (const { block, hash } of headers) {
      const told = hashes.get(block) as Hex;
      if (told !== hash) throw new OrphanedBlockError(this.#port.name, block, told);
    }
    return headers;
  }

  async #read(
    query: LogQuery,
    range: BlockRange,
    limit: number,
    retryRead: RetryRead,
  ): Promise<TokenTransfer[]> {
    const found: TokenTransfer[] = [];
    for (let n = 0; n < query.wallets.length; n += WALLETS) {
      const wallets = query.wallets.slice(n, n + WALLETS);
      // One by one: a call takes some 120,000 arguments at most.
      for (const it of await this.#readOrHalve({ ...query, wallets }, range, limit, retryRead))
        found.push(it);
    }
    this.#numberRead += found.length;
    return found.sort(byPlace);
  }

  /** If the wallets together have more transfers than one call may return, they are read in two halves. */
  async #readOrHalve(
    query: LogQuery,
    range: BlockRange,
    limit: number,
    retryRead: RetryRead,
  ): Promise<TokenTransfer[]> {
    try {
      return await this.#readSteps(query, range, limit, retryRead);
    } catch (error) {
      const { wallets } = query;
      if (!(error instanceof TooManyLogsError) || wallets.length === 1) throw error;
      const half = Math.ceil(wallets.length / 2);
      const [first, second] = [wallets.slice(0, half), wallets.slice(half)];
      return [
        ...(await this.#readOrHalve({ ...query, wallets: first }, range, limit, retryRead)),
        ...(await this.#readOrHalve({ ...query, wallets: second }, range, limit, retryRead)),
      ];
    }
  }

  async #readSteps(
    query: LogQuery,
    { from, to }: BlockRange,
    limit: number,
    retryRead: RetryRead,
  ): Promise<TokenTransfer[]> {
    const open = openWallets(query, this.#port.name, limit);
    const read = query.kind === "transfersFrom" ? this.#port.transfersFrom : this.#port.transfersTo;
    const most = Number.isFinite(limit) ? { limit } : {};
    for (let next = from; next <= to && open.wallets.length > 0; next += STEP) {
      const step = { from: next, to: Math.min(to, next + STEP - 1) };
      const logs = await readOrTooMany(retryRead, (call) => read(open.wallets, step, { ...call, ...most }));
      open.add(logs);
    }
    return open.end((logs) => logs.sort(byPlace)) as TokenTransfer[];
  }
}

/** Repeats a read, except when there are too many logs: the same call has too many again. */
async function readOrTooMany<Logs>(retryRead: RetryRead, read: (call: Call) => Promise<Logs>): Promise<Logs> {
  const logs = await retryRead(async (call) => {
    try {
      return await read(call);
    } catch (error) {
      if (error instanceof TooManyLogsError) return error;
      throw error;
    }
  });
  if (logs instanceof TooManyLogsError) throw logs;
  return logs;
}

type Known = [wallet: Address, first: First];

/** Reading this many blocks takes about as long as reading one transfer: a request is for 10,000 blocks or 1,000 transfers. */
const BLOCKS_PER_TRANSFER = 10;

/**
 * Groups wallets that share one read. The read begins after the first wallet's `upTo`, so for the other wallets some
 * transfers may be read again. A wallet shares the read if this takes no longer than a read of its own.
 */
function sharedReads(missing: readonly Known[], upTo: number): [Known, ...Known[]][] {
  const groups: [Known, ...Known[]][] = [];
  for (const it of missing.toSorted(([, a], [, b]) => a.upTo - b.upTo)) {
    const [, { upTo: last, transfers }] = it;
    const group = groups.at(-1);
    const isShared = group?.[0][1].upTo === last || upTo - last >= BLOCKS_PER_TRANSFER * transfers.length;
    if (group !== undefined && isShared) group.push(it);
    else groups.push([it]);
  }
  return groups;
}
