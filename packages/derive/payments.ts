import { ZERO_HASH } from "tallystick-protocol/hex";
import type { ApplyContext } from "./applyContext.ts";
import { awaitDisclosure, becomeEligible, consentToReceipt } from "./audits/eligibility.ts";
import { existingRow } from "./existingRow.ts";
import { flat } from "./flat.ts";
import { paidForHire } from "./funding/fundings.ts";
import { directHireId } from "./hireId.ts";
import { hireKeyTaken } from "./hireKeys.ts";
import { countHire, mayHire } from "./hires.ts";
import { listingsOf, paidFor } from "./listings.ts";
import { itemsOf, listLength } from "./lists.ts";
import { directOutcome } from "./outcome.ts";
import { isBefore, type Place, placeOf } from "./place.ts";
import { receiptCounted } from "./receiptCounted.ts";
import { isRelevant } from "./relevant/isRelevant.ts";
import type { Row } from "./tables.ts";
import { latencyOf } from "./telemetry.ts";

/**
 * A key with everything on which a receipt and its payment must agree. Several logs of one transaction may have the
 * same key. A number behind the key tells them apart. The last sixteen digits of each address are enough to find the
 * few candidates. `mayClaim` compares the whole addresses.
 */
export function paymentKey(tx: string, from: string, to: string, value: bigint): string {
  return `${tx}/${from.slice(-16)}${to.slice(-16)}/${value}`;
}

/** The key of the payment that a receipt names. */
export function keyOfPayment({ txHash, buyer, payee, amount }: Row<"receipt">): string {
  return paymentKey(txHash, buyer, payee, amount);
}

/**
 * The highest number of similar transfers that can be payments: those of one transaction with the same sides and
 * value. It is also the highest number of receipts that can wait for one payment. There are limits because each
 * receipt looks at all these transfers, and each transfer at all these receipts.
 */
export const MAX_ALIKE = 100;

/**
 * Keeps a transfer that a receipt may claim. Transfers with the same key are kept in the order of their logs. Null if
 * `MAX_ALIKE` of them are kept already, or if this transfer is not after the last of them.
 */
export function addPayment(
  context: ApplyContext,
  key: string,
  payment: Omit<Row<"payment">, "id">,
): Row<"payment"> | null {
  const { first, count, last } = knownPayments(context, key);
  if (count >= MAX_ALIKE || (last !== null && last.log >= payment.log)) return null;
  const { block, time, log, from, to, value, authorized, arrived } = payment;
  const id = flat(count === 0 ? first : `${key}/${count}`);
  const row = { id, block, time, log, from, to, value, authorized, arrived };
  context.store.insert("payment", row);
  return row;
}

/** The id of the first payment with this key, how many there are, and the last of them. */
function knownPayments(
  context: ApplyContext,
  key: string,
): { first: string; count: number; last: Row<"payment"> | null } {
  const first = `${key}/0`;
  if (context.store.get("payment", first) === null) return { first, count: 0, last: null };
  const count = countPayments(context, key);
  return { first, count, last: context.store.get("payment", `${key}/${count - 1}`) };
}

/**
 * Asks for the earlier transfers with this transaction, these sides and this amount, because a receipt may
 * claim one of them. Known transfers are left out.
 */
export function askPayments(
  context: ApplyContext,
  { tx, from, to, value }: { tx: string; from: string; to: string; value: bigint },
  before: Place,
): void {
  const { count, last } = knownPayments(context, paymentKey(tx, from, to, value));
  if (tx === ZERO_HASH || count >= MAX_ALIKE) return;
  const after = last === null ? null : placeOf(last);
  const limit = MAX_ALIKE - count;
  context.ask({ kind: "payments", tx, from, to, value, after, before: placeOf(before), limit });
}

/**
 * The number of payments with this key, if there is at least one. It searches by doubling, then by halving,
 * so thousands in one transaction take few look-ups.
 */
function countPayments(context: ApplyContext, key: string): number {
  const isThere = (n: number) => context.store.get("payment", `${key}/${n}`) !== null;
  let [known, missing] = [0, 1];
  while (isThere(missing)) [known, missing] = [missing, 2 * missing];
  while (missing - known > 1) {
    const middle = Math.floor((known + missing) / 2);
    if (isThere(middle)) known = middle;
    else missing = middle;
  }
  return missing;
}

/** The first payment that the receipt may claim, or null. */
export function findPayment(context: ApplyContext, receipt: Row<"receipt">): Row<"payment"> | null {
  const key = keyOfPayment(receipt);
  if (isRelevant(context) && hasConsent(context, receipt)) {
    const { txHash: tx, buyer: from, payee: to, amount: value } = receipt;
    askPayments(context, { tx, from, to, value }, { block: context.at.block, log: context.at.log ?? 0 });
  }
  for (let n = 0; ; n++) {
    const payment = context.store.get("payment", `${key}/${n}`);
    if (payment === null) return null;
    if (mayClaim(context, receipt, payment)) return payment;
  }
}

/**
 * Whether this log pays for this receipt. No other receipt may have claimed it. If the receipt names a log index, it
 * must be the index of this log. The buyer authorized the payment (EIP-3009), or signed the receipt. If the money
 * went to another payee, that payee agreed earlier. If the payee is shared, the buyer signed the receipt.
 */
export function mayClaim(context: ApplyContext, receipt: Row<"receipt">, payment: Row<"payment">): boolean {
  if (payment.from !== receipt.buyer || payment.to !== receipt.payee) return false;
  if (receipt.logIndex !== null && receipt.logIndex !== payment.log) return false;
  if (!payment.authorized && !receipt.buyerSigned) return false;
  if (isClaimed(context, payment)) return false;
  if (receipt.payee === receipt.agent) return true;
  const consent = context.store.get("payee", `${receipt.agent}/${receipt.payee}`);
  if (consent === null || !isBefore(consent, payment)) return false;
  return receipt.buyerSigned || !isSharedPayee(context, receipt.payee, payment);
}

/**
 * Whether money that reaches a payee may be meant for several agents: for another agent to which it agreed, or for the
 * payee itself, which sells too. A payment does not say for whom it is, and its transaction is known before it is mined.
 * So the first receipt could take the hire of another agent.
 *
 * @param place where the money reached it; null for money that comes from here on
 */
function isSharedPayee(context: ApplyContext, payee: string, place: Place | null): boolean {
  if (listLength(context.store, listingsOf(payee)) > 0) return true;
  const [, second] = itemsOf(context.store, paidFor(payee));
  if (second === undefined) return false;
  return place === null || isBefore(existingRow(context.store, "payee", `${second}/${payee}`), place);
}

/**
 * Whether a receipt may claim a payment that comes from here on: its payee agreed, and its buyer signed if the payee is
 * shared.
 */
export function mayClaimLater(context: ApplyContext, receipt: Row<"receipt">): boolean {
  if (!hasConsent(context, receipt)) return false;
  if (receipt.payee === receipt.agent || receipt.buyerSigned) return true;
  // All consents of one anchor have its place, and so has this receipt. A later payment comes after all of them.
  return !isSharedPayee(context, receipt.payee, null);
}

/** Whether a receipt made a hire of this payment: one log pays for one hire. */
function isClaimed(context: ApplyContext, payment: Row<"payment">): boolean {
  return context.store.get("hire", hireIdOf(payment)) !== null;
}

function hireIdOf({ id, log }: Row<"payment">): string {
  return directHireId(id.slice(0, id.indexOf("/")), log);
}

/** Whether the payee that a receipt names ever agreed to be paid for its agent. */
function hasConsent(context: ApplyContext, { agent, payee }: Row<"receipt">): boolean {
  return payee === agent || context.store.get("payee", `${agent}/${payee}`) !== null;
}

/**
 * Counts a hire from a receipt and its payment. Returns false if this hire was counted before (the receipt becomes a
 * duplicate), or if a side cannot hire (the receipt becomes unmatched).
 */
export function countDirectHire(
  context: ApplyContext,
  receipt: Row<"receipt">,
  payment: Row<"payment">,
): boolean {
  if (hireKeyTaken(context, receipt)) {
    context.store.update("receipt", receipt.id, { status: "duplicate" });
    return false;
  }
  if (!mayHire(context, { seller: receipt.agent, buyer: receipt.buyer })) {
    context.store.update("receipt", receipt.id, { status: "unmatched" });
    return false;
  }
  // This comes before the registration of both sides. Otherwise the registration would take the payment for
  // funding.
  paidForHire(context, payment);
  const id = hireIdOf(payment);
  const paid = {
    id,
    seller: receipt.agent,
    buyer: receipt.buyer,
    amount: receipt.amount,
    paymentMode: "direct",
    time: payment.time,
  };
  const consent = consentToReceipt(context, { ...paid, paidAt: payment.time }, receipt);
  countHire(context, {
    ...directOutcome(receipt, context.store.get("telemetry", receipt.id)),
    ...paid,
    hireId: receipt.hireId,
    capability: receipt.capability,
    latencyMs: latencyOf(context, receipt, payment.time),
    tx: receipt.txHash,
    escrowId: null,
    receipt: receipt.id,
    isAuditable: consent !== null,
    payee: payment.to,
    paid: isRelevant(context) ? placeOf(payment) : payment,
    feePaid: 0n,
  });
  receiptCounted(context, receipt, id);
  if (consent === null) awaitDisclosure(context, paid);
  else becomeEligible(context, { ...paid, isContested: false }, { ...consent, receipt });
  return true;
}
