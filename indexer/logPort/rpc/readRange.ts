import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { checkLogs, expectTimesUpTo } from "../checkLogs.ts";
import { SourceRefusedError } from "../errors.ts";
import type { BlockAt, BlockRange, HistoryRead, LogQuery, TokenLog } from "../logPort.ts";
import { openWallets } from "../openWallets.ts";
import { KINDS, topicOf } from "../tokenLogs.ts";
import { faultError, headerFrom, type RpcContext, retryWhileStale, UnclearFault } from "./context.ts";
import type { HistoryCheck } from "./historyCheck.ts";
import type { RpcCall, RpcReply } from "./jsonRpc.ts";
import type { LearnedLimit } from "./learnedLimit.ts";
import { hexOf, itemsOf, rawLog, tokenLog } from "./parse.ts";
import { headerCall } from "./readHeaders.ts";
import { type RpcFault, refusalOf } from "./refusals.ts";
import type { WindowSize } from "./windowSize.ts";

/** The state that all windows of one source share, and what they learn about its limits. */
export type RangeReading = {
  context: RpcContext;
  history: HistoryCheck;
  size: WindowSize;
  /** The most wallets in one request. go-ethereum accepts 1,000 topics at one position. */
  maxWallets: LearnedLimit;
};

type Window = { query: LogQuery; range: BlockRange; signal: AbortSignal };

/** Thrown when a smaller request is necessary. */
class Refused extends Error {
  readonly fault: RpcFault;
  constructor(fault: RpcFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Reads a range of final blocks by the topics of wallets. */
export async function readRange(
  reading: RangeReading,
  query: LogQuery,
  range: BlockRange,
  limit: number | undefined,
  callSignal: AbortSignal,
): Promise<HistoryRead> {
  const { context, size } = reading;
  const failed = new AbortController();
  const signal = AbortSignal.any([callSignal, failed.signal]);
  const open = openWallets(query, context.source, limit);
  const hashes = new Map<number, Hex>();
  let end: BlockAt | null = null;
  let next = range.from;

  const work = async () => {
    while (next <= range.to && open.wallets.length > 0) {
      const window = { from: next, to: Math.min(range.to, next + size.blocks - 1) };
      next = window.to + 1;
      for (const wallets of chunks(open.wallets, reading)) {
        const read = await readWindow(reading, { query: { ...query, wallets }, range: window, signal });
        open.add(read.logs);
        hashes.set(read.end.block, read.end.hash);
        if (end === null || read.end.block > end.block) end = read.end;
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: context.concurrency }, work));
  } catch (error) {
    // One window failed, so the others are cancelled.
    failed.abort(error);
    throw error;
  }
  return { logs: open.end((logs) => checkLogs(logs, { source: context.source, query, range, hashes })), end };
}

/** Splits the wallets into requests. The limit may go down while they are read. */
function* chunks(wallets: readonly Address[], { maxWallets }: RangeReading): Generator<Address[]> {
  for (let n = 0; n < wallets.length; ) {
    const most = maxWallets.current;
    yield wallets.slice(n, n + most);
    n += most;
  }
}

type WindowRead = { logs: TokenLog[]; end: BlockAt };

async function readWindow(reading: RangeReading, window: Window): Promise<WindowRead> {
  const { context, size } = reading;
  const blocks = window.range.to - window.range.from + 1;
  try {
    const read = await retryWhileStale(context, "eth_getLogs", window.signal, () => ask(reading, window));
    size.answered(read.logs.length);
    reading.maxWallets.answered();
    return read;
  } catch (error) {
    const isUnclear = error instanceof UnclearFault;
    if (!(error instanceof Refused) && !isUnclear) throw error;
    const refusal = isUnclear ? "other" : refusalOf(error.fault);
    if (refusal === "range") size.refusedRange(blocks);
    if (refusal === "size") size.refusedSize(blocks);
    if (refusal === "wallets") reading.maxWallets.refused(window.query.wallets.length);
    const halves = halvesOf(window, refusal === "wallets");
    if (halves === null) {
      throw new SourceRefusedError(context.source, `one block of one wallet is refused: ${error.message}`);
    }
    const [first, second] = [await readWindow(reading, halves[0]), await readWindow(reading, halves[1])];
    // Both halves were answered. So an unclear refusal shows a limit on what was halved, blocks or wallets. But if a
    // smaller part of this window has shown a limit on wallets meanwhile, that limit explains the refusal.
    const { wallets } = window.query;
    if (refusal === "other" && reading.maxWallets.current >= wallets.length) {
      if (halves[0].query.wallets.length < wallets.length) reading.maxWallets.refused(wallets.length);
      else size.refusedRange(blocks);
    }
    return { logs: first.logs.concat(second.logs), end: second.end };
  }
}

/**
 * Splits a window in two: by blocks, or by wallets if it has only one block. `byWallets`: by wallets, or by blocks if
 * it has only one wallet. Returns null for one block of one wallet.
 */
function halvesOf(window: Window, byWallets: boolean): [Window, Window] | null {
  const { query, range } = window;
  if (range.from < range.to && !byWallets) {
    const middle = Math.floor((range.from + range.to) / 2);
    return [
      { ...window, range: { from: range.from, to: middle } },
      { ...window, range: { from: middle + 1, to: range.to } },
    ];
  }
  const half = Math.ceil(query.wallets.length / 2);
  if (half === query.wallets.length) return byWallets ? halvesOf(window, false) : null;
  return [
    { ...window, query: { ...query, wallets: query.wallets.slice(0, half) } },
    { ...window, query: { ...query, wallets: query.wallets.slice(half) } },
  ];
}

/**
 * Servers that silently cut their answers do it at round numbers. Reading the two halves shows whether there
 * were more logs.
 */
export const isRound = (count: number): boolean => count > 0 && count % 1_000 === 0;

/**
 * Asks for the logs of a window. Two more questions test the answer: the header of the last block shows that the node
 * has the whole range, and a known log shows that the node has the history. All of this goes in one request if the
 * provider accepts batches.
 */
async function ask(
  { context, history }: RangeReading,
  { query, range, signal }: Window,
): Promise<WindowRead> {
  const { rpc, source, token } = context;
  const check = history.call();
  const calls = [headerCall(range.to), logsCall(query, range, token), ...(check === null ? [] : [check])];
  const replies =
    context.batch >= calls.length ? await rpc.send(calls, signal) : await sendApart(context, calls, signal);
  const [head, logs, known] = replies as [RpcReply, RpcReply, RpcReply?];
  if (logs.fault) {
    if (["range", "size", "wallets"].includes(refusalOf(logs.fault))) throw new Refused(logs.fault);
    throw faultError(context, logs.fault, range.to);
  }
  const header = headerFrom(context, head, range.to);
  if (known !== undefined) history.check(known);
  const read: TokenLog[] = itemsOf(logs.result, { source, field: "eth_getLogs" }).map((item, n) =>
    tokenLog(rawLog(item, { source, field: `eth_getLogs[${n}]` }), token, query.kind),
  );
  if (isRound(read.length) && range.from < range.to) {
    throw new Refused({ code: -32005, message: `response of ${read.length} logs: it may be cut` });
  }
  const end = { block: header.block, hash: header.hash };
  checkLogs(read, { source, query, range, hashes: new Map([[end.block, end.hash]]) });
  expectTimesUpTo(source, read, header);
  return { logs: read, end };
}

function logsCall({ kind, wallets }: LogQuery, { from, to }: BlockRange, token: Address): RpcCall {
  const { event, position } = KINDS[kind];
  const walletTopics = wallets.map(topicOf);
  const topics = position === 1 ? [event, walletTopics] : [event, null, walletTopics];
  const filter = { address: token, topics, fromBlock: hexOf(from), toBlock: hexOf(to) };
  return { method: "eth_getLogs", params: [filter] };
}

/**
 * Sends each call in a request of its own, for a provider without batches. Different nodes may answer them. So the logs
 * are read twice, and both answers must be the same.
 */
async function sendApart(
  context: RpcContext,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<RpcReply[]> {
  const [head, logs, ...rest] = calls as [RpcCall, RpcCall, ...RpcCall[]];
  const send = async (call: RpcCall) => (await context.rpc.send([call] as const, signal))[0];
  const replies: RpcReply[] = await Promise.all([send(head), send(logs), ...rest.map(send)]);
  const again = await send(logs);
  if (JSON.stringify(again) !== JSON.stringify(replies[1])) {
    throw new UnclearFault(context.source, "it answered the same eth_getLogs in two ways");
  }
  return replies;
}
