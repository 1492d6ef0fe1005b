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

/** Transfers that are large enough to fund somebody, and whose sender's past is not read yet. */
export function possibleFundings(
  { transfers: read, finalizedHead }: View,
  transfers: readonly TokenTransfer[],
  params: Params,
): TokenTransfer[] {
  const { minFunding } = amountsOf(params);
  // Their money funds nobody, so nobody asks for their past.
  const others = new Set<Address>([
    ZERO_ADDRESS,
    ...params.hubs,
    ...(Object.keys(params.escrows) as Address[]),
  ]);
  return transfers.filter(
    ({ from, value }) =>
      value >= minFunding &&
      !others.has(from) &&
      !read.isKnown("transfersFrom", from, finalizedHead.block, MOST_AHEAD),
  );
}

/**
 * The senders for whose past the derivation asks when it applies transfers. Their money is a large part of all that its
 * receiver got, or it may be money that comes back to a family. For most senders it never asks, and anybody can be such a
 * sender, but to look for one wallet a source has to read the whole history of the token.
 *
 * @param transfers to watched wallets, in the order of the chain, not applied yet
 * @param receiversOf tells of wallets what they are before the first of these transfers
 */
export async function possibleFunders(
  view: View,
  transfers: readonly TokenTransfer[],
  params: Params,
  receiversOf: (wallets: readonly Address[]) => Promise<ReadonlyMap<Address, Receiver>>,
): Promise<Set<Address>> {
  const fundings = new Set(possibleFundings(view, transfers, params));
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
    if (receiver.isTraced || isFundingSize(params, it.value, sum)) funders.add(it.from);
  }
  return funders;
}
