import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { ApplyContext } from "../applyContext.ts";
import { lastWhere } from "../lastWhere.ts";
import { append, lastItem } from "../lists.ts";
import { isBefore, type Place } from "../place.ts";
import { isRelevant } from "../relevant/isRelevant.ts";
import { findWallet, walletToChange } from "../wallets.ts";
import {
  type Act,
  formatInflow,
  hasSpent,
  type Inflow,
  parseInflow,
  valueIn,
  withInflow,
  withSpent,
} from "./origin.ts";
import { payerOf } from "./payouts.ts";

type Sent = Place & { time: number; from: string; to: string; value: bigint };

/**
 * How a transfer counts as an inflow of its receiver. Null if it does not count: it moves nothing, or comes from the
 * wallet itself. From an escrow contract only payouts count, and not what an escrow gives back to its buyer.
 *
 * @param kind the kind of the sender at the time of the transfer
 */
export function inflowOfTransfer(
  context: ApplyContext,
  sent: Sent,
  kind: string | null,
  isBusy: boolean,
): Inflow | null {
  const { from, to, value, block, log, time } = sent;
  if (value === 0n || from === to) return null;
  const how = from === ZERO_ADDRESS ? "mint" : kind === "hub" ? "hub" : isBusy ? "busy" : "plain";
  if (kind !== "escrow") return { from, value, block, log, time, how };
  const payer = payerOf(context, sent);
  return payer === null || payer === to ? null : { from: payer, value, block, log, time, how: "payout" };
}

/** In a log of all transfers: notes an inflow of a wallet that has not spent yet. */
export function noteInflow(context: ApplyContext, wallet: string, inflow: Inflow): void {
  const origin = findWallet(context, wallet)?.origin ?? "";
  if (hasSpent(origin)) return;
  const after = withInflow(origin, inflow);
  if (after !== origin) walletToChange(context, wallet).origin = after;
}

/** In a log of all transfers: notes that a wallet spends. Only the first time matters. */
export function noteSpent(context: ApplyContext, wallet: string, act: Act): void {
  const origin = findWallet(context, wallet)?.origin ?? "";
  if (!hasSpent(origin)) walletToChange(context, wallet).origin = withSpent(origin, act);
}

/**
 * Notes that an address is registered, or agrees to be paid. Only the first time matters. In a log of all transfers the
 * address's largest inflow up to here is kept, because later inflows may be larger.
 */
export function noteDeclaration(context: ApplyContext, address: string): void {
  if (context.store.get("declaration", address) !== null) return;
  const { block, log, time } = context.at;
  context.store.insert("declaration", { id: address, block, log: log ?? 0, time });
  if (isRelevant(context)) return;
  const origin = findWallet(context, address)?.origin ?? "";
  if (origin !== "" && !hasSpent(origin)) walletToChange(context, address).begun = origin;
}

/**
 * In a relevant log: notes an inflow that is larger than all earlier ones. The wallet's first act may become
 * known later.
 */
export function noteLargest(context: ApplyContext, wallet: string, inflow: Inflow): void {
  const last = lastItem(context.store, largestOf(wallet));
  if (last === null || valueIn(last) < inflow.value)
    append(context.store, largestOf(wallet), formatInflow(inflow));
}

/**
 * In a relevant log: the largest inflow up to and including a place. A payment may itself register its receiver.
 * Without that payment the receiver would wrongly found a family.
 */
export function largestUpTo({ store }: ApplyContext, wallet: string, end: Place): Inflow | null {
  const item = lastWhere(store, largestOf(wallet), (it) => !isBefore(end, parseInflow(it)));
  return item === null ? null : parseInflow(item);
}

function largestOf(wallet: string): string {
  return `largest/${wallet}`;
}
