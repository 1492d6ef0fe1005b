import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { findAgent } from "./agentRow.ts";
import { amountsOf } from "./amountsOf.ts";
import type { ApplyContext } from "./applyContext.ts";
import { isPool, poolPaid } from "./audits/fees.ts";
import type { TransferEvent } from "./events.ts";
import { arrivedNow, noteArrival } from "./families/arrivals.ts";
import { awaitReceipt } from "./families/coverage.ts";
import { noteFlow } from "./families/flows.ts";
import { inflowOfTransfer, noteInflow, noteLargest, noteSpent } from "./families/inflows.ts";
import { addFundingTransfer, presumePayment } from "./funding/fundings.ts";
import { isFundingSize } from "./funding/isFundingSize.ts";
import { itemsOf, listLength } from "./lists.ts";
import { forEachRow } from "./loadedRows.ts";
import { addPayment, askPayments, countDirectHire, mayClaim, paymentKey } from "./payments.ts";
import { receiptRow, waitingForPayment } from "./receiptRow.ts";
import { askInflow, inflowOf, isWatched } from "./relevant/inflow.ts";
import { isRelevant } from "./relevant/isRelevant.ts";
import { MAX_EMPTY } from "./relevant/reads.ts";
import { schedule } from "./schedule.ts";
import type { Row } from "./tables.ts";
import { findWallet, isHubOrEscrow, walletToChange } from "./wallets.ts";

/**
 * Applies a transfer of the token. It is a hire payment when a receipt claims it. Otherwise it may fund its receiver.
 * If an authorized transfer goes to a wallet with a live listing, it is presumed to be a hire payment. It counts as
 * funding if no receipt claims it within `reconcileSeconds`.
 */
export function transferred(context: ApplyContext, event: TransferEvent): void {
  // Transfers that reached a wallet before it was watched come again as lines about the past, when they are needed.
  // If they counted here, they would count twice.
  if (isRelevant(context) && !isWatched(context, event.to, event)) return;
  const value = BigInt(event.value);
  const counted = (isRelevant(context) ? countWatched : countTransfer)(context, event, value);
  const { kind, received, isBusy } = counted;
  noteForFamilies(context, event, value, counted);
  if (isPool(context, event.from)) poolPaid(context, event.from, event.to, value);
  if (kind !== null || event.from === ZERO_ADDRESS || isHubOrEscrow(context, event.from)) return;

  const mayPay = value >= amountsOf(context.params).minHire;
  const isListed = mayPay && hasLiveListing(context, event.to);
  if (isRelevant(context) && isListed) context.ask({ kind: "authorization" });
  if (mayPay && claimOnArrival(context, event, value)) return;
  if (isListed && event.authorized) awaitReceipt(context, { ...event, value });
  if (isBusy || !isFundingSize(context.params, value, received)) return;
  if (isListed && event.authorized) {
    // One second is added, so that only a tick after the whole waiting time decides.
    const due = event.time + context.params.reconcileSeconds + 1;
    schedule(context, due, "payment", presumePayment(context, event.to, legOf(event)));
    return;
  }
  addFundingTransfer(context, event.to, legOf(event), mayPay);
}

type Counted = Pick<Row<"wallet">, "kind" | "received"> & {
  isBusy: boolean;
  /**
   * `sent`: how many transfers had left the sender, with this one. In a relevant log this count is asked for only
   * when it matters.
   */
  sent: number;
  sentTooMany: boolean;
  gotTooMany: boolean;
  /** Whether `hubTransfers` transfers have reached the receiver, with this one. */
  isFull: boolean;
};

/**
 * Notes a transfer for families: its sender spends. For the receiver the transfer may be its first money, money to
 * pay with later, or money that comes back.
 */
function noteForFamilies(
  context: ApplyContext,
  event: TransferEvent,
  value: bigint,
  { sent, sentTooMany, gotTooMany, isFull }: Counted,
): void {
  const { from, to, block, log, time } = event;
  const isSpent = (value > 0n || sent >= MAX_EMPTY) && from !== ZERO_ADDRESS && !isRelevant(context);
  if (isSpent) noteSpent(context, from, { block, log, time });
  noteArrival(context, to, { from, value, block, log }, isFull);
  if (gotTooMany) return;
  const kind = findWallet(context, from)?.kind ?? null;
  const inflow = inflowOfTransfer(context, { from, to, value, block, log, time }, kind, sentTooMany);
  if (inflow === null) return;
  (isRelevant(context) ? noteLargest : noteInflow)(context, to, inflow);
  noteFlow(context, to, inflow);
}

/**
 * Counts a transfer on both sides. `isBusy`: at least `hubTransfers` transfers had left the sender, or
 * reached the receiver, before it. Then it funds nobody. In everything else such a wallet stays what it is:
 * an agent, a buyer, a seller.
 */
function countTransfer(context: ApplyContext, { from, to }: TransferEvent, value: bigint): Counted {
  const receiver = walletToChange(context, to);
  // The zero address funds nobody, and every mint would change its row.
  const sender = from === ZERO_ADDRESS ? null : walletToChange(context, from);
  const { incoming } = receiver;
  const outgoing = sender?.outgoing ?? 0;
  receiver.incoming = incoming + 1;
  receiver.received += value;
  if (sender !== null) sender.outgoing = outgoing + 1;
  const { kind, received } = receiver;
  const sentTooMany = outgoing >= context.params.hubTransfers;
  const gotTooMany = incoming >= context.params.hubTransfers;
  const isFull = incoming + 1 >= context.params.hubTransfers;
  const isBusy = sentTooMany || gotTooMany;
  return { kind, received, isBusy, sent: outgoing + 1, sentTooMany, gotTooMany, isFull };
}

/**
 * Counts a transfer in a relevant log, for the receiver only. The sender's transfers are looked up when they matter.
 */
function countWatched(context: ApplyContext, event: TransferEvent, value: bigint): Counted {
  const { to } = event;
  const told = inflowOf(context, to);
  const live = findWallet(context, to)?.incoming ?? 0;
  const incoming = live + (told?.incoming ?? 0);
  const gotTooMany = incoming >= context.params.hubTransfers;
  const isFull = incoming + 1 >= context.params.hubTransfers;
  if (!gotTooMany) askInflow(context, to, event);
  const receiver = walletToChange(context, to);
  receiver.incoming = live + 1;
  receiver.received += value;
  const { kind, received } = receiver;
  const all = received + (told?.received ?? 0n);
  return { kind, received: all, isBusy: gotTooMany, sent: 0, sentTooMany: false, gotTooMany, isFull };
}

/** Keeps a transfer that may pay for a hire. Returns whether a waiting receipt claimed it, and a hire was counted. */
function claimOnArrival(context: ApplyContext, event: TransferEvent, value: bigint): boolean {
  const { block, time, log, from, to, tx, authorized } = event;
  const key = paymentKey(tx, from, to, value);
  const waiting = waitingForPayment(key);
  const isAwaited = listLength(context.store, waiting) > 0;
  if (isRelevant(context)) {
    // A receipt that comes later names the transaction, and asks for this transfer then.
    if (!isAwaited) return false;
    context.ask({ kind: "authorization" });
    askPayments(context, { tx, from, to, value }, event);
  }
  const arrived = isRelevant(context) ? null : arrivedNow(context, from, block);
  // The addresses come from the wallets' rows, so that memory has each text only once.
  const [payer, payee] = [findWallet(context, from)?.id ?? from, findWallet(context, to)?.id ?? to];
  const sides = { from: payer, to: payee };
  const payment = addPayment(context, key, { block, time, log, ...sides, value, authorized, arrived });
  return payment !== null && isAwaited && claimByWaitingReceipt(context, waiting, payment);
}

function claimByWaitingReceipt(context: ApplyContext, waiting: string, payment: Row<"payment">): boolean {
  const receipts: Row<"receipt">[] = [];
  forEachRow(itemsOf(context.store, waiting), (id) => receipts.push(receiptRow(context, id)));
  for (const receipt of receipts) {
    if (receipt.status !== "pending" || !mayClaim(context, receipt, payment)) continue;
    if (countDirectHire(context, receipt, payment)) return true;
  }
  return false;
}

function hasLiveListing(context: ApplyContext, address: string): boolean {
  return (findAgent(context, address)?.liveListings ?? 0) > 0;
}

function legOf({ from, block, time, log }: { from: string; block: number; time: number; log: number }) {
  return { from, block, time, log };
}
