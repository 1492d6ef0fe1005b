import type { Hex } from "tallystick-protocol/hex";
import { BadAnswerError, ProofMissingError, SourceRefusedError, SourceUnavailableError } from "../errors.ts";
import type { BlockAt } from "../logPort.ts";
import { type RpcContext, together } from "./context.ts";
import { BatchRefusedError, type RpcCall, type RpcReply } from "./jsonRpc.ts";
import { itemsOf, membersOf, type RawHeader, type RawLog, rawLog } from "./parse.ts";
import { type RpcFault, refusalOf } from "./refusals.ts";

/** The logs of all contracts in a block, or the error of a node that does not give them. */
export type AllLogs = { logs: RawLog[]; fault?: undefined } | { logs?: undefined; fault: RpcFault };

export type ReadAllLogs = (header: RawHeader, signal: AbortSignal) => Promise<AllLogs>;

/** A way to read the logs of all contracts in a block. */
type Way = {
  method: string;
  read: (context: RpcContext, header: RawHeader, signal: AbortSignal) => Promise<AllLogs>;
};

/** After this many blocks the ways are tried in their first order again, because a gateway may be repaired. */
const REMEMBERED_BLOCKS = 256;

export const receiptCall = (hash: Hex): RpcCall => ({ method: "eth_getTransactionReceipt", params: [hash] });

const byLogs: Way = {
  method: "eth_getLogs",
  read: async (context, at, signal) => {
    const [reply] = await context.rpc.send(
      [{ method: "eth_getLogs", params: [{ blockHash: at.hash }] }] as const,
      signal,
    );
    return reply.fault ? reply : { logs: logsOf(context, reply, at) };
  },
};

const byBlockReceipts: Way = {
  method: "eth_getBlockReceipts",
  read: async ({ rpc, source }, at, signal) => {
    const field = "eth_getBlockReceipts";
    const [reply] = await rpc.send([{ method: field, params: [at.hash] }] as const, signal);
    if (reply.fault) return reply;
    if (reply.result === null) return UNKNOWN_BLOCK;
    const receipts = itemsOf(reply.result, { source, field });
    if (receipts.length < at.transactions.length) return UNKNOWN_BLOCK;
    return { logs: receipts.flatMap((it, n) => logsIn(it, at, { source, field: `${field}[${n}]` })) };
  },
};

/** One call for each transaction. */
const byReceipts: Way = {
  method: "eth_getTransactionReceipt",
  read: async (context, at, signal) => {
    const spot = { source: context.source, field: "eth_getTransactionReceipt" };
    const calls = at.transactions.map(receiptCall);
    const logs: RawLog[] = [];
    const replies = calls.length > 0 ? await together(context, calls, signal) : [];
    for (const [n, { result, fault }] of replies.entries()) {
      if (fault) return { fault };
      // The node does not have this receipt yet.
      if (result === null) return UNKNOWN_BLOCK;
      const { blockHash, transactionHash } = membersOf(result, spot);
      // After a reorganization the transaction may be in another block.
      if (blockHash !== at.hash) return UNKNOWN_BLOCK;
      if (transactionHash !== at.transactions[n]) {
        throw new BadAnswerError(
          context.source,
          `${spot.field}.transactionHash`,
          "is of another transaction",
        );
      }
      logs.push(...logsIn(result, at, spot));
    }
    return { logs };
  },
};

const WAYS = [byLogs, byBlockReceipts, byReceipts];

/**
 * The node does not have the whole block, or not any more. The bloom may not show that a receipt is missing: if a block
 * has many logs, the other logs set the same bits.
 */
const UNKNOWN_BLOCK: AllLogs = { fault: { code: -32000, message: "unknown block" } };

/**
 * Reads the logs of all contracts in a block. Some gateways always fail (5xx) when they are asked for logs without an
 * address. Receipts have the same logs. The way that worked comes first from then on, because each attempt at a
 * broken way lasts seconds.
 *
 * @throws ProofMissingError when no way works, after all retries
 */
export function openAllLogs(context: RpcContext): ReadAllLogs {
  const { source } = context;
  let ways = WAYS;
  let left = 0;

  return async (header, signal) => {
    if (ways !== WAYS && --left < 0) ways = WAYS;
    const reasons: string[] = [];
    for (const way of ways) {
      const found = await tried(() => way.read(context, header, signal), source);
      if (found.fault === undefined) {
        if (way !== ways[0]) [ways, left] = [[way, ...ways.filter((it) => it !== way)], REMEMBERED_BLOCKS];
        return found;
      }
      const { fault, isDown } = found;
      // A node that answers, but gives no logs without an address, proves nothing. The caller knows what to do then.
      if (!isDown && (way === byLogs || isAboutBlock(fault))) return { fault };
      reasons.push(isDown ? fault.message : `${way.method}: ${fault.message}`);
    }
    throw new ProofMissingError(source, header.block, reasons.join("; "));
  };
}

/** The result, or the fault; `isDown`: no complete answer came. */
async function tried(read: () => Promise<AllLogs>, source: string): Promise<AllLogs & { isDown?: boolean }> {
  try {
    return await read();
  } catch (error) {
    const isDown = error instanceof SourceUnavailableError;
    const isRefused = error instanceof SourceRefusedError && !(error instanceof BatchRefusedError);
    if (!isDown && !isRefused) throw error;
    return { isDown, fault: { code: -32601, message: error.message.replace(`${source}: `, "") } };
  }
}

/** Whether a fault says that the node does not have the block, or not any more. */
function isAboutBlock(fault: RpcFault): boolean {
  return ["unknownBlock", "behind", "history"].includes(refusalOf(fault));
}

/** The logs of a receipt. */
function logsIn(receipt: unknown, at: BlockAt, spot: { source: string; field: string }): RawLog[] {
  const { source, field } = spot;
  return logsAt(membersOf(receipt, spot).logs, at, { source, field: `${field}.logs` });
}

/** The logs in a reply to `eth_getLogs`, which is not a fault. */
export function logsOf({ source }: Pick<RpcContext, "source">, { result }: RpcReply, at: BlockAt): RawLog[] {
  return logsAt(result, at, { source, field: "eth_getLogs" });
}

/** Reads a list of logs, which must all be of one block. */
function logsAt(
  value: unknown,
  { block, hash }: BlockAt,
  { source, field }: { source: string; field: string },
): RawLog[] {
  return itemsOf(value, { source, field }).map((item, n) => {
    const log = rawLog(item, { source, field: `${field}[${n}]` });
    if (log.place.block === block && log.place.blockHash === hash) return log;
    throw new BadAnswerError(source, `${log.at.field}.blockHash`, `must be of block ${block}, ${hash}`);
  });
}
