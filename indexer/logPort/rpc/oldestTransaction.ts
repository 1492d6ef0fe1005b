import type { Hex } from "tallystick-protocol/hex";
import { SourceRefusedError } from "../errors.ts";
import { headerFrom, type RpcContext } from "./context.ts";
import { headerCall } from "./readHeaders.ts";

/**
 * The most blocks without transactions that are searched. On Base each block has a transaction, except the first
 * one.
 */
const MAX_EMPTY = 1_000;

/**
 * The first transaction from the token's first block on. It is the token's deployment, or an older
 * transaction.
 */
export async function oldestTransaction(
  context: RpcContext,
  last: number,
  signal: AbortSignal,
): Promise<Hex | null> {
  const { source, firstBlock, rpc } = context;
  let count = 1;
  for (let from = firstBlock; from <= last; from += count, count = Math.min(context.batch, 2 * count)) {
    if (from - firstBlock > MAX_EMPTY) {
      const message = `the ${MAX_EMPTY} blocks from ${firstBlock} on have no transaction, so the token begins elsewhere`;
      throw new SourceRefusedError(source, message);
    }
    const blocks = Array.from({ length: Math.min(count, last - from + 1) }, (_, n) => from + n);
    const replies = await rpc.send(blocks.map(headerCall), signal);
    const headers = replies.map((reply, n) => headerFrom(context, reply, from + n));
    const found = headers.find(({ transactions }) => transactions.length > 0);
    if (found !== undefined) return found.transactions[0] ?? null;
  }
  return null;
}
