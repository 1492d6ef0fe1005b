import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { checkLogs } from "../checkLogs.ts";
import { OrphanedBlockError, SourceRefusedError } from "../errors.ts";
import type {
  BalanceSource,
  BlockAt,
  BlockRange,
  Call,
  HistoryRead,
  HistorySource,
  LimitedCall,
  LogPort,
  LogQuery,
  SourceRequest,
  TokenLog,
} from "../logPort.ts";
import { openWallets } from "../openWallets.ts";
import type { Retries } from "../retries.ts";
import { sourceName } from "../sourceName.ts";
import { withDeadline } from "../withDeadline.ts";
import { retryWhileStale, rpcContext } from "./context.ts";
import { openHistoryCheck } from "./historyCheck.ts";
import { openJsonRpc } from "./jsonRpc.ts";
import { learnedLimit } from "./learnedLimit.ts";
import { readBalances } from "./readBalances.ts";
import { openBlockReader } from "./readBlocks.ts";
import { readFinalized, readHeaders } from "./readHeaders.ts";
import { type RangeReading, readRange } from "./readRange.ts";
import { readTransaction } from "./readTransaction.ts";
import { windowSize } from "./windowSize.ts";

export type RpcSourceOptions = Retries & {
  /** An HTTP JSON-RPC endpoint. A key in it appears in no message. */
  url: string;
  /** Lower case. */
  token: Address;
  /** The block in which the token was deployed, or an earlier one. */
  firstBlock: number;
  /** This many blocks before the latest one count as final. Default: the node's own `finalized` block. */
  finalityBlocks?: number;
  /** The most calls in one request; 1 for a provider without batches. Default 20. */
  batch?: number;
  /** The most requests at the same time. Default 4. */
  concurrency?: number;
  /** The number of blocks in the first request. Default 10,000. */
  maxBlocks?: number;
  /** Milliseconds for one request. Default 30,000. */
  timeoutMs?: number;
  /**
   * The longest answer that is read, in bytes. A longer one counts as refused because of its size. Default 64
   * MiB.
   */
  maxBytes?: number;
  onRequest?: (request: SourceRequest) => void;
  fetch?: typeof fetch;
};

/** The most blocks that are not final and are read one by one: an hour of Base. */
const MAX_UNFINALIZED = 2_000;

type Limit = LimitedCall["limit"];

/** go-ethereum's limit for the number of topics at one position. */
const MAX_WALLETS = 1_000;

/**
 * Reads the token's logs from the chain's own RPC. Final blocks are read in ranges, filtered by topics. Other
 * blocks are read one by one, by their hashes.
 */
export function createRpcSource(options: RpcSourceOptions): LogPort & HistorySource & BalanceSource {
  const { token, firstBlock, finalityBlocks, batch = 20, concurrency = 4, maxBlocks = 10_000 } = options;
  const name = sourceName("rpc", options.url);
  const rpc = openJsonRpc({ ...options, source: name });
  const common = { rpc, source: name, token, firstBlock, retries: options, concurrency };
  const context = rpcContext(common, batch);
  const history = openHistoryCheck(context);
  const reading: RangeReading = {
    context,
    history,
    size: windowSize(maxBlocks),
    maxWallets: learnedLimit(MAX_WALLETS),
  };
  const blocks = openBlockReader(context);
  let known: BlockAt | null = null;

  /**
   * The finalized block, which never goes back, although one of two nodes behind the same URL may be behind.
   */
  async function finalized(signal: AbortSignal, atLeast = Infinity): Promise<BlockAt> {
    if (known !== null && known.block >= atLeast) return known;
    const now = await readFinalized(context, finalityBlocks, signal);
    if (known === null || now.block > known.block) known = now;
    return known;
  }

  async function readFinal(query: LogQuery, range: BlockRange, limit: Limit, signal: AbortSignal) {
    await history.prepare(await finalized(signal, range.to), signal);
    return readRange(reading, query, range, limit, signal);
  }

  /** Reads the blocks that are not final, one by one along one chain. */
  async function readUnfinalized(
    query: LogQuery,
    range: BlockRange,
    signal: AbortSignal,
  ): Promise<TokenLog[]> {
    const count = range.to - range.from + 1;
    if (count > MAX_UNFINALIZED) {
      throw new SourceRefusedError(name, `${count} blocks above finality are more than ${MAX_UNFINALIZED}`);
    }
    const wanted = Array.from({ length: count }, (_, n) => range.from + n);
    return retryWhileStale(context, "eth_getLogs", signal, async () => {
      const headers = await readHeaders(context, wanted, signal);
      const below = headers[0];
      if (known !== null && below?.block === known.block + 1 && below.parentHash !== known.hash) {
        throw new OrphanedBlockError(name, known.block, known.hash);
      }
      const hashes = new Map(headers.map(({ block, hash }) => [block, hash]));
      const logs = await blocks.find(query, headers, signal);
      return checkLogs(logs, { source: name, query, range, hashes });
    });
  }

  async function read<Log extends TokenLog>(query: LogQuery, place: BlockAt | BlockRange, call: LimitedCall) {
    return withDeadline(call, name, async (signal) => {
      if (query.wallets.length === 0) return [];
      const open = openWallets(query, name, call.limit);
      if ("hash" in place) {
        open.add(await blocks.find(query, [place], signal));
      } else if (place.from <= place.to) {
        const { block: final } = await finalized(signal, place.to);
        const below = { from: place.from, to: Math.min(place.to, final) };
        const above = { from: Math.max(place.from, final + 1), to: place.to };
        if (below.from <= below.to) open.add((await readFinal(query, below, call.limit, signal)).logs);
        if (above.from <= above.to) {
          open.add(await readUnfinalized({ ...query, wallets: open.wallets }, above, signal));
        }
      }
      const range = "hash" in place ? { from: place.block, to: place.block } : place;
      return open.end((logs) => checkLogs(logs, { source: name, query, range })) as Log[];
    });
  }

  return {
    name,
    transfersTo: (wallets, place, call) => read({ kind: "transfersTo", wallets }, place, call),
    transfersFrom: (wallets, place, call) => read({ kind: "transfersFrom", wallets }, place, call),
    authorizationsBy: (wallets, place, call) => read({ kind: "authorizationsBy", wallets }, place, call),
    transactionLogs: (hash: Hex, asOf, call) =>
      withDeadline(call, name, async (signal) => {
        await history.prepare(await finalized(signal, 0), signal);
        return readTransaction(context, history, hash, asOf, signal);
      }),
    headers: (wanted, call) =>
      withDeadline(call, name, async (signal) => {
        const headers = await readHeaders(context, wanted, signal);
        return headers.map(({ block, hash, parentHash, time }) => ({ block, hash, parentHash, time }));
      }),
    blockLogs: (wanted, call) => withDeadline(call, name, (signal) => blocks.all(wanted, signal)),
    finalizedHead: (call: Call) => withDeadline(call, name, (signal) => finalized(signal)),
    balances: (wallets, at, call) =>
      withDeadline(call, name, (signal) => readBalances(context, wallets, at, signal)),
    history: (query, range, call): Promise<HistoryRead> =>
      withDeadline(call, name, (signal) => readFinal(query, range, call.limit, signal)),
  };
}
