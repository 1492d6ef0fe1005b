import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { checkLogs, walletOf } from "../checkLogs.ts";
import { LogsMissingError } from "../errors.ts";
import type { BlockAt, BlockLogs, LogKind, LogQuery, TokenLog } from "../logPort.ts";
import { KINDS } from "../tokenLogs.ts";
import { openAllLogs } from "./allLogs.ts";
import { type RpcContext, retryWhileStale, together } from "./context.ts";
import type { RpcReply } from "./jsonRpc.ts";
import { type RawLog, tokenLog } from "./parse.ts";
import { blockCalls, readBlock } from "./readBlock.ts";
import { refusalOf } from "./refusals.ts";

/** The most blocks whose logs stay in memory, because the same blocks are read for each kind of log. */
const KEPT = 64;

/**
 * Reads all logs of the token in one block, by its hash. For one wallet this costs more than a filtered
 * request, for a thousand wallets less.
 */
export function openBlockReader(context: RpcContext) {
  const { token } = context;
  const kept = new Map<Hex, RawLog[]>();
  const allLogs = openAllLogs(context);

  /** The logs of each block. */
  async function readAll(blocks: readonly BlockAt[], signal: AbortSignal): Promise<RawLog[][]> {
    const found: RawLog[][] = [];
    const doubted = new Set<Hex>();
    const group = Math.max(1, Math.floor(context.batch / 2));
    for (let n = 0; n < blocks.length; n += group) {
      const asked = blocks.slice(n, n + group);
      const work = () => readGroup(asked, doubted, signal);
      found.push(...(await retryWhileStale(context, "eth_getLogs", signal, work)));
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

  async function readGroup(
    blocks: readonly BlockAt[],
    doubted: Set<Hex>,
    signal: AbortSignal,
  ): Promise<RawLog[][]> {
    // The kept logs are taken before the first await, because blocks that are read meanwhile push older ones out.
    const found = new Map(blocks.map(({ hash }) => [hash, kept.get(hash)]));
    const unknown = blocks.filter(({ hash }) => found.get(hash) === undefined);
    if (unknown.length > 0) {
      const asked = unknown.flatMap((at) => blockCalls(token, at));
      const replies = await together(context, asked, signal);
      const isTooMuch = replies.some(({ fault }) => fault !== undefined && refusalOf(fault) === "size");
      if (isTooMuch && blocks.length > 1) {
        const half = Math.ceil(blocks.length / 2);
        return [
          ...(await readGroup(blocks.slice(0, half), doubted, signal)),
          ...(await readGroup(blocks.slice(half), doubted, signal)),
        ];
      }
      // After a block without a proof the others are still read and kept. So one pause is enough for all such blocks.
      let missing: LogsMissingError | undefined;
      for (const [n, at] of unknown.entries()) {
        const own = [replies[2 * n] as RpcReply, replies[2 * n + 1] as RpcReply] as const;
        try {
          const logs = await readBlock(context, at, own, { doubted, allLogs, signal });
          found.set(at.hash, logs);
          keep(kept, at.hash, logs);
        } catch (error) {
          if (!(error instanceof LogsMissingError)) throw error;
          missing ??= error;
        }
      }
      if (missing !== undefined) throw missing;
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

function keep(kept: Map<Hex, RawLog[]>, hash: Hex, logs: RawLog[]): void {
  kept.set(hash, logs);
  const oldest = kept.size > KEPT ? kept.keys().next().value : undefined;
  if (oldest !== undefined) kept.delete(oldest);
}
