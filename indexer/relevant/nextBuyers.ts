import type { EscrowDeposited } from "tallystick-derive/events";
import type { Address } from "tallystick-protocol/address";
import type { Params } from "tallystick-protocol/records/params";
import { TooManyLogsError } from "../logPort/errors.ts";
import type { TokenTransfer } from "../logPort/logPort.ts";
import type { ChainView } from "./chainView.ts";
import { MOST_WALLETS } from "./readPaths.ts";

/** The number of blocks in which later deposits are looked for: one request of an RPC. */
const BLOCKS = 10_000;

/**
 * The buyer of a deposit, and wallets that are probably the buyers of the next deposits, because they paid an escrow. A deposit
 * makes its buyer an agent, of which the whole past is read. For an RPC this is a search in the whole history of the token, and
 * anybody can make tiny deposits from new wallets. So these wallets should share a search.
 */
export async function nextBuyers(
  view: ChainView,
  { block, buyer }: EscrowDeposited,
  params: Params,
): Promise<Address[]> {
  const escrows = new Set(Object.keys(params.escrows) as Address[]);
  const recent = view.recent
    .filter((it) => it.block >= block)
    .flatMap(({ transfers }) => transfers.filter(({ to }) => escrows.has(to)));
  const payments = [...(await finalPayments(view, block, [...escrows])), ...recent];
  const senders = payments.filter(({ value }) => value > 0n).map(({ from }) => from);
  return [...new Set([buyer, ...senders])].slice(0, MOST_WALLETS);
}

/** The first transfers to escrows in final blocks, from a block on. */
async function finalPayments(
  { final, finalizedHead, transfers, retryRead }: ChainView,
  from: number,
  escrows: readonly Address[],
): Promise<TokenTransfer[]> {
  if (from > final) return [];
  const range = { from, to: Math.min(finalizedHead.block, from + BLOCKS - 1) };
  try {
    return await transfers.to(escrows, range, MOST_WALLETS, retryRead);
  } catch (error) {
    if (error instanceof TooManyLogsError) return [];
    throw error;
  }
}
