import { amountsOf } from "tallystick-derive/amountsOf";
import { isFundingSize } from "tallystick-derive/funding/isFundingSize";
import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Params } from "tallystick-protocol/records/params";
import type { TokenTransfer } from "../logPort/logPort.ts";
import type { ChainView } from "./chainView.ts";
import { MOST_AHEAD } from "./readPaths.ts";
import type { Receiver } from "./receiversOf.ts";

/** The most transfers that are looked at together. */
export const MOST_LOOKED = 10_000;

type View = Pick<ChainView, "transfers" | "finalizedHead">;

/** What decides whether a transfer may make the derivation ask for its sender's past. */
export type Rules = {
  params: Params;
  /** Whether the log already has the transfers to a wallet. */
  isWatched: (wallet: Address) => boolean;
};

/**
 * Makes the function that says whether a transfer is large enough to fund somebody, and whether its sender's past is not
 * read yet.
 */
export function possibleFunding(
  { transfers: read, finalizedHead }: View,
  { params, isWatched }: Rules,
): (transfer: TokenTransfer) => boolean {
  const { minFunding } = amountsOf(params);
  const { hubTransfers, maxIntermediaries } = params;
  const most = Math.min(MOST_AHEAD, hubTransfers);
  // Their money funds nobody, so nobody asks for their past.
  const others = new Set<Address>([
    ZERO_ADDRESS,
    ...params.hubs,
    ...(Object.keys(params.escrows) as Address[]),
  ]);
  const isKnown = (wallet: Address) => {
    if (!read.sentFewer(wallet, finalizedHead.block, most))
      return read.isKnown("transfersFrom", wallet, finalizedHead.block, MOST_AHEAD);
    // It matters where a wallet's own money came from only if the wallet sent few transfers.
    return (
      maxIntermediaries === 0 ||
      isWatched(wallet) ||
      read.isKnown("transfersTo", wallet, finalizedHead.block, MOST_AHEAD)
    );
  };
  return ({ from, value }) => value >= minFunding && !others.has(from) && !isKnown(from);
}

/**
 * The senders for whose past the derivation asks when it applies transfers. Their money is a large part of all that its
 * receiver got, or it may be money that comes back to a family. The derivation never asks for most senders. Anybody can
 * be a sender, and for each look-up a source has to read the whole history of the token.
 *
 * @param transfers to watched wallets, in the order of the chain, not applied yet
 * @param receiversOf tells of wallets what they are before the first of these transfers
 */
export async function possibleFunders(
  view: View,
  transfers: readonly TokenTransfer[],
  rules: Rules,
  receiversOf: (wallets: readonly Address[]) => Promise<ReadonlyMap<Address, Receiver>>,
): Promise<Set<Address>> {
  const fundings = new Set(transfers.filter(possibleFunding(view, rules)));
  const funders = new Set<Address>();
  if (fundings.size === 0) return funders;
  const receivers = await receiversOf([...new Set([...fundings].map(({ to }) => to))]);
  const received = new Map<Address, bigint>();
  for (const it of transfers) {
    const receiver = receivers.get(it.to);
    if (receiver === undefined || receiver.isFull) continue;
    const sum = (received.get(it.to) ?? receiver.received) + it.value;
    received.set(it.to, sum);
    if (!fundings.has(it)) continue;
    if (receiver.isTraced || isFundingSize(rules.params, it.value, sum)) funders.add(it.from);
  }
  return funders;
}
