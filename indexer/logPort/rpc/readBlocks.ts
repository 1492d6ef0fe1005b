import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { checkLogs, walletOf } from "../checkLogs.ts";
import { BadAnswerError, OrphanedBlockError, SourceBehindError } from "../errors.ts";
import type { BlockAt, BlockLogs, LogKind, LogQuery, TokenLog } from "../logPort.ts";
import { AUTHORIZATION_USED, KINDS, TRANSFER } from "../tokenLogs.ts";
import { mayHaveLogged } from "./bloom.ts";
import { faultError, headerFrom, type RpcContext, retryWhileStale, together } from "./context.ts";
import type { RpcCall, RpcReply } from "./jsonRpc.ts";
import { headerOf, itemsOf, type RawHeader, type RawLog, rawLog, tokenLog } from "./parse.ts";
import { headerCall } from "./readHeaders.ts";
import { refusalOf } from "./refusals.ts";

/** The most blocks whose logs stay in memory, because the same blocks are read for each kind of log. */
const KEPT = 64;

/**
 * Reads all logs of the token in one block, by its hash. For one wallet this costs more than a filtered
 * request, for a thousand wallets less.
 */
export function openBlockReader(context: RpcContext) {
  const { rpc, source, token } = context;
  const kept = new Map<Hex, RawLog[]>();

  const calls = ({ hash }: BlockAt): [RpcCall, RpcCall] => [
    { method: "eth_getBlockByHash", params: [hash, false] },
    logsCall(hash),
  ];
  const logsCall = (blockHash: Hex): RpcCall => ({
    method: "eth_getLogs",
    params: [{ address: token, topics: [[TRANSFER, AUTHORIZATION_USED]], blockHash }],
  });

  /**
   * The reason why a node has no block of this hash: its block of this number has another hash, or the node
   * is behind.
   */
  async function absent({ block, hash }: BlockAt, signal: AbortSignal): Promise<Error> {
    const [reply] = await rpc.send([headerCall(block)] as const, signal);
    const isOther = !reply.fault && reply.result !== null && headerFrom(context, reply, block).hash !== hash;
    return isOther ? new OrphanedBlockError(source, block, hash) : new SourceBehindError(source, block);
  }

  const logsOf = ({ fault, result }: RpcReply, { block, hash }: BlockAt): RawLog[] => {
    if (fault) throw faultError(context, fault, block);
    return itemsOf(result, { source, field: "eth_getLogs" }).map((item, n) => {
      const log = rawLog(item, { source, field: `eth_getLogs[${n}]` });
      if (log.address !== token || (log.topics[0] !== TRANSFER && log.topics[0] !== AUTHORIZATION_USED)) {
        throw new BadAnswerError(source, log.at.field, "is of an address or event that was not asked for");
      }
      if (log.place.block === block && log.place.blockHash === hash) return log;
      throw new BadAnswerError(source, `${log.at.field}.blockHash`, `must be of block ${block}, ${hash}`);
    });
  };

  async function read(at: BlockAt, head: RpcReply, reply: RpcReply, signal: AbortSignal): Promise<RawLog[]> {
    const isUnknown = head.fault !== undefined && refusalOf(head.fault) === "unknownBlock";
    if (isUnknown || head.result === null) throw await absent(at, signal);
    if (reply.fault && refusalOf(reply.fault) === "unknownBlock") throw await absent(at, signal);
    if (head.fault) throw faultError(context, head.fault, at.block);
    const header: RawHeader = headerOf(head.result, { source, field: "eth_getBlockByHash" });
    if (header.hash !== at.hash || header.block !== at.block) {
      throw new BadAnswerError(source, "eth_getBlockByHash.hash", `must be ${at.hash} of block ${at.block}`);
    }
    const logs = logsOf(reply, at);
    if (logs.length > 0 || !isLikelyLogged(header, token)) return logs;
    // Some nodes answer [] for a block that they have not stored completely yet. If the header shows that
    // there may be logs, the block is read twice.
    const [again] = await rpc.send([logsCall(at.hash)] as const, signal);
    return logsOf(again, at);
  }

  /** The logs of each block. */
  async function readAll(blocks: readonly BlockAt[], signal: AbortSignal): Promise<RawLog[][]> {
    const found: RawLog[][] = [];
    const group = Math.max(1, Math.floor(context.batch / 2));
    for (let n = 0; n < blocks.length; n += group) {
      const asked = blocks.slice(n, n + group);
      found.push(...(await retryWhileStale(context, "eth_getLogs", signal, () => readGroup(asked, signal))));
    }
    return found;
  }

  return {
    /** The logs in these blocks that fit a query. */
    find: async (query: LogQuery, blocks: readonly BlockAt[], signal: AbortSignal): Promise<TokenLog[]> => {
      const wallets = new Set<string>(query.wallets);
      const found = (await readAll(blocks, signal)).flat();
      return decoded(found, query.kind, token).filter((log) => wallets.has(walletOf(log, query.kind)));
    },
    /** All logs of each of these blocks. */
    all: async (blocks: readonly BlockAt[], signal: AbortSignal): Promise<BlockLogs[]> =>
      (await readAll(blocks, signal)).map((logs, n) => blockLogs(logs, blocks[n] as BlockAt, context)),
  };

  async function readGroup(blocks: readonly BlockAt[], signal: AbortSignal): Promise<RawLog[][]> {
    // Taken before anything is awaited: what is read meanwhile takes the place of older blocks.
    const found = new Map(blocks.map(({ hash }) => [hash, kept.get(hash)]));
    const unknown = blocks.filter(({ hash }) => found.get(hash) === undefined);
    if (unknown.length > 0) {
      const asked = unknown.flatMap(calls);
      const replies = await together(context, asked, signal);
      const isTooMuch = replies.some(({ fault }) => fault !== undefined && refusalOf(fault) === "size");
      if (isTooMuch && blocks.length > 1) {
        const half = Math.ceil(blocks.length / 2);
        return [
          ...(await readGroup(blocks.slice(0, half), signal)),
          ...(await readGroup(blocks.slice(half), signal)),
        ];
      }
      for (const [n, at] of unknown.entries()) {
        const logs = await read(at, replies[2 * n] as RpcReply, replies[2 * n + 1] as RpcReply, signal);
        found.set(at.hash, logs);
        keep(kept, at.hash, logs);
      }
    }
    return blocks.map(({ hash }) => found.get(hash) as RawLog[]);
  }
}

function decoded(logs: readonly RawLog[], kind: LogKind, token: Address): TokenLog[] {
  return logs
    .filter(({ topics }) => topics[0] === KINDS[kind].event)
    .map((log) => tokenLog(log, token, kind));
}

function blockLogs(logs: readonly RawLog[], { block }: BlockAt, { source, token }: RpcContext): BlockLogs {
  const all = <Log extends TokenLog>(kind: LogKind) => {
    const own = decoded(logs, kind, token);
    const wallets = own.map((log) => walletOf(log, kind));
    return checkLogs(own, { source, query: { kind, wallets }, range: { from: block, to: block } }) as Log[];
  };
  return { transfers: all("transfersTo"), authorizations: all("authorizationsBy") };
}

function isLikelyLogged({ logsBloom }: RawHeader, token: Address): boolean {
  return logsBloom !== null && mayHaveLogged(logsBloom, [token]) && mayHaveLogged(logsBloom, [TRANSFER]);
}

function keep(kept: Map<Hex, RawLog[]>, hash: Hex, logs: RawLog[]): void {
  kept.set(hash, logs);
  const oldest = kept.size > KEPT ? kept.keys().next().value : undefined;
  if (oldest !== undefined) kept.delete(oldest);
}
