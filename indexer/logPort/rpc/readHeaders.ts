import type { Hex } from "tallystick-protocol/hex";
import { BadAnswerError, OrphanedBlockError, SourceBehindError } from "../errors.ts";
import type { BlockAt } from "../logPort.ts";
import { faultError, headerFrom, type RpcContext, retryWhileStale } from "./context.ts";
import type { RpcCall } from "./jsonRpc.ts";
import { headerOf, hexOf, type RawHeader } from "./parse.ts";

export const headerCall = (block: number | Hex | "latest" | "finalized"): RpcCall => ({
  method: "eth_getBlockByNumber",
  params: [typeof block === "number" ? hexOf(block) : block, false],
});

/** Headers of these blocks in ascending order. @throws OrphanedBlockError when neighbours are not linked */
export function readHeaders(
  context: RpcContext,
  blocks: readonly number[],
  signal: AbortSignal,
): Promise<RawHeader[]> {
  const sorted = [...new Set(blocks)].sort((a, b) => a - b);
  return retryWhileStale(context, "eth_getBlockByNumber", signal, async () => {
    const groups: number[][] = [];
    for (let n = 0; n < sorted.length; n += context.batch) groups.push(sorted.slice(n, n + context.batch));
    const headers: RawHeader[] = [];
    // Only some groups are read at the same time, because there may be a hundred thousand of them.
    for (let n = 0; n < groups.length; n += context.concurrency) {
      const read = groups.slice(n, n + context.concurrency).map(async (group) => {
        const replies = await context.rpc.send(group.map(headerCall), signal);
        return replies.map((reply, k) => headerFrom(context, reply, group[k] as number));
      });
      headers.push(...(await Promise.all(read)).flat());
    }
    expectLinks(context.source, headers);
    return headers;
  });
}

/**
 * The last final block: the node's own `finalized` block, or a fixed number of blocks before its latest one.
 */
export function readFinalized(
  context: RpcContext,
  finalityBlocks: number | undefined,
  signal: AbortSignal,
): Promise<BlockAt> {
  return retryWhileStale(context, "eth_getBlockByNumber", signal, async () => {
    const [reply] = await context.rpc.send(
      [headerCall(finalityBlocks === undefined ? "finalized" : "latest")] as const,
      signal,
    );
    if (reply.fault) throw faultError(context, reply.fault, 0);
    if (reply.result === null) throw new SourceBehindError(context.source, 0);
    const head = headerOf(reply.result, { source: context.source, field: "eth_getBlockByNumber" });
    if (finalityBlocks === undefined || finalityBlocks === 0) return { block: head.block, hash: head.hash };
    const block = Math.max(0, head.block - finalityBlocks);
    const [final] = await context.rpc.send([headerCall(block)] as const, signal);
    return { block, hash: headerFrom(context, final, block).hash };
  });
}

export function expectLinks(source: string, headers: readonly RawHeader[]): void {
  for (const [n, header] of headers.entries()) {
    const before = headers[n - 1];
    if (before === undefined || before.block !== header.block - 1) continue;
    if (before.hash !== header.parentHash) throw new OrphanedBlockError(source, before.block, before.hash);
    if (before.time > header.time) {
      throw new BadAnswerError(
        source,
        "eth_getBlockByNumber.timestamp",
        `runs back at block ${header.block}`,
      );
    }
  }
}
