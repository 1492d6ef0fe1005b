import { isFundingSize } from "tallystick-derive/funding/isFundingSize";
import type { Address } from "tallystick-protocol/address";
import type { Params } from "tallystick-protocol/records/params";
import type { TokenTransfer } from "../logPort/logPort.ts";
import type { ChainView } from "./chainView.ts";

/** The most transfers of a wallet that are read in advance. Further ones are read when they are needed. */
export const MOST_AHEAD = 1_000;

/**
 * The same limit for reads in the background, and for buyers of later deposits. It is lower, so that the past of 1,000 wallets
 * fills only a part of the memory, and what is needed before it stays there.
 */
export const MOST_BESIDE = 100;

/** The most wallets whose past is read in advance at once: an RPC accepts this many in one request. */
export const MOST_WALLETS = 1_000;

/**
 * The most transfers of a wallet whose times are read in advance. The times of further ones are read when they are
 * needed.
 */
const MOST_TIMES = 100;

/**
 * Reads the past of wallets that sent money to an agent, in advance and in few requests. The search for funding paths
 * needs to know whether such a wallet sent too many transfers, and where its own money came from. A read that turns out
 * to be unnecessary costs a part of a request, and changes nothing.
 *
 * @param isWatched whether the log already has the transfers to a wallet
 */
export async function readPaths(
  view: ChainView,
  funders: Iterable<Address>,
  params: Params,
  isWatched: (wallet: Address) => boolean,
  most = MOST_AHEAD,
): Promise<void> {
  let senders = [...new Set(funders)].slice(0, MOST_WALLETS);
  for (let level = 0; senders.length > 0; level++) {
    const few = await sendersOfFew(view, senders, params, most);
    if (level === params.maxIntermediaries) return;
    const further = few.filter((it) => !isWatched(it));
    senders = await fundersOf(view, further, params, view.finalizedHead.block, most);
  }
}

// A read may give a million transfers. Each read has a function of its own, so that its transfers leave memory when the
// function ends.

/**
 * The wallets that sent few transfers. No funding path leads through a hub. The past of another wallet with many transfers
 * is read when it is needed.
 */
async function sendersOfFew(
  { transfers, finalizedHead, retryRead }: ChainView,
  wallets: readonly Address[],
  { hubTransfers }: Params,
  most: number,
): Promise<Address[]> {
  const limit = Math.min(most, hubTransfers);
  const few = new Set(wallets.filter((it) => transfers.sentFewer(it, finalizedHead.block, limit)));
  const others = wallets.filter((it) => !few.has(it));
  const sent = await transfers.first("transfersFrom", others, finalizedHead.block, most, retryRead);
  return wallets.filter((it) => few.has(it) || (sent.get(it)?.length ?? 0) < limit);
}

/** The senders of transfers, up to a block, that are large enough to fund one of these wallets. */
export async function fundersOf(
  { transfers, retryRead }: ChainView,
  wallets: readonly Address[],
  params: Params,
  upTo: number,
  most = MOST_AHEAD,
): Promise<Address[]> {
  const received = await transfers.first("transfersTo", wallets, upTo, most, retryRead);
  const pasts = [...received.values()];
  await transfers.withTimes(
    pasts.flatMap((it) => it.slice(0, MOST_TIMES)),
    retryRead,
  );
  return [...new Set(pasts.flatMap((it) => fundersIn(it, params)))].slice(0, MOST_WALLETS);
}

/**
 * The senders of the transfers that are large enough to fund a wallet.
 *
 * @param received the transfers to the wallet, the oldest first
 */
function fundersIn(received: readonly TokenTransfer[], params: Params): Address[] {
  let sum = 0n;
  return received.flatMap(({ from, value }) => {
    sum += value;
    return isFundingSize(params, value, sum) ? [from] : [];
  });
}
