import { paidForHire } from "./funding/fundings.ts";
import { countHire } from "./hires.ts";
import { directOutcome } from "./outcome.ts";
import { receiptCounted } from "./receiptCounted.ts";
import { hireKeyTaken } from "./receiptRow.ts";
import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";
import { latencyOf } from "./telemetry.ts";

/**
 * What a receipt and its payment must agree on; several logs of one transaction may share it and are told apart by number.
 * Of the addresses the last sixteen digits are enough to find the few that may fit: `mayClaim` compares them whole.
 */
export function paymentKey(tx: string, from: string, to: string, value: bigint): string {
  return `${tx}/${from.slice(-16)}${to.slice(-16)}/${value}`;
}

/** The key of the payment that a receipt names. */
export function keyOfPayment({ txHash, buyer, payee, amount }: Row<"receipt">): string {
  return paymentKey(txHash, buyer, payee, amount);
}

/**
 * How many transfers alike (one transaction, the same sides and value) can be payments, and how many receipts can wait for
 * one: every receipt looks through the former, every transfer through the latter.
 */
export const MAX_ALIKE = 100;

/** Keeps a transfer that a receipt may claim; null for one that has too many before it that are alike. */
export async function addPayment(
  step: Step,
  key: string,
  payment: Omit<Row<"payment">, "id">,
): Promise<Row<"payment"> | null> {
  const first = `${key}/0`;
  const isFirst = (await step.store.get("payment", first)) === null;
  const n = isFirst ? 0 : await countPayments(step, key);
  if (n >= MAX_ALIKE) return null;
  const row = { id: isFirst ? first : `${key}/${n}`, ...payment };
  await step.store.insert("payment", row);
  return row;
}

/** How many payments have this key, at least one, in few looks also when one transaction holds thousands: by doubling, then halving. */
async function countPayments(step: Step, key: string): Promise<number> {
  const isThere = async (n: number) => (await step.store.get("payment", `${key}/${n}`)) !== null;
  let [known, missing] = [0, 1];
  while (await isThere(missing)) [known, missing] = [missing, 2 * missing];
  while (missing - known > 1) {
    const middle = Math.floor((known + missing) / 2);
    if (await isThere(middle)) known = middle;
    else missing = middle;
  }
  return missing;
}

/** The first payment that the receipt may claim, or null. */
export async function findPayment(step: Step, receipt: Row<"receipt">): Promise<Row<"payment"> | null> {
  const key = keyOfPayment(receipt);
  for (let n = 0; ; n++) {
    const payment = await step.store.get("payment", `${key}/${n}`);
    if (payment === null) return null;
    if (await mayClaim(step, receipt, payment)) return payment;
  }
}

/**
 * Whether this log pays for this receipt: not consumed, at the log index if one is given, authorized by the buyer (EIP-3009)
 * or acknowledged by its signature, and, when the money went to another payee, with that payee's consent from before.
 */
export async function mayClaim(
  step: Step,
  receipt: Row<"receipt">,
  payment: Row<"payment">,
): Promise<boolean> {
  if (payment.from !== receipt.buyer || payment.to !== receipt.payee) return false;
  if (receipt.logIndex !== null && receipt.logIndex !== payment.log) return false;
  if (!payment.authorized && !receipt.buyerSigned) return false;
  if (await isClaimed(step, payment)) return false;
  if (receipt.payee === receipt.agent) return true;
  const consent = await step.store.get("payee", `${receipt.agent}/${receipt.payee}`);
  if (consent === null) return false;
  return consent.block < payment.block || (consent.block === payment.block && consent.log < payment.log);
}

/** Whether a receipt made a hire of this payment: one log pays for one hire. */
async function isClaimed(step: Step, payment: Row<"payment">): Promise<boolean> {
  return (await step.store.get("hire", hireIdOf(payment))) !== null;
}

/** `<tx>-<log>`. */
function hireIdOf({ id, log }: Row<"payment">): string {
  return `${id.slice(0, id.indexOf("/"))}-${log}`;
}

/** Whether the payee that a receipt names has ever agreed to be paid for its agent. */
export async function hasConsent(step: Step, { agent, payee }: Row<"receipt">): Promise<boolean> {
  return payee === agent || (await step.store.get("payee", `${agent}/${payee}`)) !== null;
}

/** Makes a receipt and its payment a hire; false when the same hire was counted before or cannot be one. */
export async function countDirectHire(
  step: Step,
  receipt: Row<"receipt">,
  payment: Row<"payment">,
): Promise<boolean> {
  if (await hireKeyTaken(step, receipt)) {
    await step.store.update("receipt", receipt.id, { status: "duplicate" });
    return false;
  }
  // First of all: registering the sides below must not take it for funding.
  await paidForHire(step, payment);
  const id = hireIdOf(payment);
  const counted = await countHire(step, {
    ...directOutcome(receipt, await step.store.get("telemetry", receipt.id)),
    id,
    seller: receipt.agent,
    buyer: receipt.buyer,
    hireId: receipt.hireId,
    capability: receipt.capability,
    paymentMode: "direct",
    amount: receipt.amount,
    latencyMs: await latencyOf(step, receipt),
    time: payment.time,
    tx: receipt.txHash,
    escrowId: null,
    receipt: receipt.id,
  });
  if (counted) await receiptCounted(step, receipt, id);
  else await step.store.update("receipt", receipt.id, { status: "unmatched" });
  return counted;
}
