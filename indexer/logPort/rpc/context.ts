import type { Address } from "tallystick-protocol/address";
import {
  BadAnswerError,
  HistoryMissingError,
  LogsMissingError,
  OrphanedBlockError,
  SourceBehindError,
  SourceRefusedError,
} from "../errors.ts";
import { attemptsOf, type Retries } from "../retries.ts";
import { BatchRefusedError, type JsonRpc, type RpcCall, type RpcReply } from "./jsonRpc.ts";
import { type LearnedLimit, learnedLimit } from "./learnedLimit.ts";
import { headerOf, type RawHeader } from "./parse.ts";
import { type RpcFault, refusalOf } from "./refusals.ts";

/** The context that the parts of one RPC source share. */
export type RpcContext = {
  rpc: JsonRpc;
  source: string;
  token: Address;
  firstBlock: number;
  retries: Retries;
  /** The most calls in one request. It goes down when the provider refuses a batch. */
  readonly batch: number;
  batches: LearnedLimit;
  concurrency: number;
};

/** @param batch the most calls in one request, until the provider refuses so many */
export function rpcContext(common: Omit<RpcContext, "batch" | "batches">, batch: number): RpcContext {
  const batches = learnedLimit(batch);
  return {
    ...common,
    batches,
    get batch() {
      return batches.current;
    },
  };
}

/** An unknown error. It may be temporary, or mean that the request was too large. */
export class UnclearFault extends SourceRefusedError {}

/**
 * Repeats work while another node behind the same URL may give a better answer, and with smaller batches if the
 * provider refuses a batch. So the work must ask again how large a batch may be.
 */
export async function retryWhileStale<Result>(
  context: Pick<RpcContext, "rpc" | "retries" | "batches">,
  method: string,
  signal: AbortSignal,
  work: () => Promise<Result>,
): Promise<Result> {
  const { rpc, retries, batches } = context;
  const attempts = attemptsOf(retries);
  for (;;) {
    try {
      const result = await work();
      batches.answered();
      return result;
    } catch (error) {
      signal.throwIfAborted();
      if (error instanceof BatchRefusedError) {
        // Each time the batch is at most half as large as the refused one, so the loop ends.
        batches.refused(error.calls);
        continue;
      }
      const isPassing =
        error instanceof SourceBehindError ||
        error instanceof OrphanedBlockError ||
        error instanceof HistoryMissingError ||
        error instanceof LogsMissingError ||
        error instanceof UnclearFault;
      if (!isPassing) throw error;
      rpc.count(method, "stale");
      if (!(await attempts.again(signal))) throw error;
    }
  }
}

/** Sends calls that belong together. They go in one request if the provider accepts batches. */
export async function together(
  { rpc, batch }: Pick<RpcContext, "rpc" | "batch">,
  calls: readonly RpcCall[],
  signal: AbortSignal,
): Promise<RpcReply[]> {
  if (calls.length <= batch) return [...(await rpc.send(calls, signal))];
  const replies: RpcReply[] = [];
  for (let n = 0; n < calls.length; n += batch)
    replies.push(...(await rpc.send(calls.slice(n, n + batch), signal)));
  return replies;
}

/** The error for a fault when a smaller request would not help. */
export function faultError(
  { source, firstBlock }: Pick<RpcContext, "source" | "firstBlock">,
  fault: RpcFault,
  block: number,
): Error {
  const refusal = refusalOf(fault);
  if (refusal === "behind" || refusal === "unknownBlock") return new SourceBehindError(source, block);
  if (refusal === "history") return new HistoryMissingError(source, firstBlock, fault.message);
  return new UnclearFault(source, `it answered error ${fault.code}: ${fault.message}`, { error: fault.code });
}

/** @throws when the node does not have the block, or answers with another block */
export function headerFrom(context: RpcContext, reply: RpcReply, block: number): RawHeader {
  if (reply.fault) throw faultError(context, reply.fault, block);
  if (reply.result === null) throw new SourceBehindError(context.source, block);
  const header = headerOf(reply.result, { source: context.source, field: "eth_getBlockByNumber" });
  if (header.block === block) return header;
  throw new BadAnswerError(
    context.source,
    "eth_getBlockByNumber.number",
    `must be ${block}, not ${header.block}`,
  );
}
