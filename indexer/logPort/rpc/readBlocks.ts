import type { Hex } from "tallystick-protocol/hex";
import { walletOf } from "../checkLogs.ts";
import { BadAnswerError, OrphanedBlockError, SourceBehindError } from "../errors.ts";
import type { BlockAt, LogQuery, TokenLog } from "../logPort.ts";
import { AUTHORIZATION_USED, KINDS, TRANSFER } from "../tokenLogs.ts";
import { mayHaveLogged } from "./bloom.ts";
import { faultError, headerFrom, patiently, type RpcContext, together } from "./context.ts";
import type { RpcCall, RpcReply } from "./jsonRpc.ts";
import { headerOf, itemsOf, type RawHeader, type RawLog, rawLog, tokenLog } from "./parse.ts";
import { headerCall } from "./readHeaders.ts";
import { refusalOf } from "./refusals.ts";

/** Blocks whose logs are kept: those that are read now, of each kind. */
const KEPT = 64;

/** Reads all that the token logged in one block, by its hash: dearer for one wallet, cheaper for a thousand. */
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

  /** Says why a node has no block of this hash: another one has its number, or it is behind. */
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
    if (logs.length > 0 || !isLikelyLogged(header)) return logs;
    // Some nodes answer [] for a block that they do not have whole yet: what the header speaks against is asked twice.
    const [again] = await rpc.send([logsCall(at.hash)] as const, signal);
    return logsOf(again, at);
  }

  const isLikelyLogged = ({ logsBloom }: RawHeader) =>
    logsBloom !== null && mayHaveLogged(logsBloom, [token]) && mayHaveLogged(logsBloom, [TRANSFER]);

  const keep = (hash: Hex, logs: RawLog[]) => {
    kept.set(hash, logs);
    const oldest = kept.size > KEPT ? kept.keys().next().value : undefined;
    if (oldest !== undefined) kept.delete(oldest);
  };

  /** What a query finds in these blocks. */
  return async (query: LogQuery, blocks: readonly BlockAt[], signal: AbortSignal): Promise<TokenLog[]> => {
    const found: RawLog[] = [];
    const group = Math.max(1, Math.floor(context.batch / 2));
    for (let n = 0; n < blocks.length; n += group) {
      const asked = blocks.slice(n, n + group);
      found.push(...(await patiently(context, "eth_getLogs", signal, () => readGroup(asked, signal))).flat());
    }
    const wallets = new Set<string>(query.wallets);
    return found
      .filter(({ topics }) => topics[0] === KINDS[query.kind].event)
      .map((log) => tokenLog(log, token, query.kind))
      .filter((log) => wallets.has(walletOf(log, query.kind)));
  };

  async function readGroup(blocks: readonly BlockAt[], signal: AbortSignal): Promise<RawLog[][]> {
    const unknown = blocks.filter(({ hash }) => !kept.has(hash));
    const fresh = new Map<Hex, RawLog[]>();
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
        fresh.set(at.hash, logs);
        keep(at.hash, logs);
      }
    }
    return blocks.map(({ hash }) => fresh.get(hash) ?? kept.get(hash) ?? []);
  }
}
