import { agentRow, findAgent, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { directHireId } from "../hireId.ts";
import type { Place } from "../place.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";

type Paid = Place & { time: number; from: string; to: string; value: bigint; tx: string };

/**
 * Waits for the receipt of an authorized payment that reached a seller with a live listing. The receipt must
 * claim it in time.
 */
export function awaitReceipt(context: ApplyContext, { tx, log, block, time, from, to, value }: Paid): void {
  // One second is added, so that only a tick after the whole waiting time decides.
  const due = time + context.params.reconcileSeconds + 1;
  schedule(context, due, "unreceipted", `${directHireId(tx, log)} ${to} ${from} ${value} ${block} ${time}`);
}

/** Called when the waiting time is over. A payment without a hire counts as unreceipted while it is in the window. */
export function receiptIsDue(context: ApplyContext, id: string, words: readonly string[]): void {
  const [seller, buyer, value, block, time] = words as [string, string, string, string, string];
  const leaves = Number(time) + context.params.windowSeconds;
  if (leaves <= context.at.time || context.store.get("hire", id) !== null) return;
  // A log may contain the same transfer twice. It is still one payment.
  if (context.store.get("unreceipted", id) !== null) return;
  const row = { id, seller, buyer, value: BigInt(value), block: Number(block), time: Number(time) };
  context.store.insert("unreceipted", { ...row, inWindow: true });
  countUnreceipted(context, row, 1);
  schedule(context, leaves, "unpaid", id);
}

/** Removes an unreceipted payment: it left the window, or got its receipt late. */
export function leaveUnreceipted(context: ApplyContext, id: string): void {
  const row = context.store.get("unreceipted", id);
  if (row === null || !row.inWindow) return;
  context.store.update("unreceipted", id, { inWindow: false });
  countUnreceipted(context, row, -1);
}

/**
 * Waits for the seller's answer after an escrow went back to its buyer. Without an answer in time the escrow
 * counts as unanswered.
 */
export function awaitAnswer(context: ApplyContext, escrow: Row<"escrow">): void {
  if (escrow.amount < BigInt(context.params.minHireAtomic) || isAnswered(escrow)) return;
  schedule(context, context.at.time + context.params.reconcileSeconds + 1, "unanswered", escrow.id);
}

export function answerIsDue(context: ApplyContext, id: string): void {
  const escrow = escrowOf(context, id);
  const leaves = (escrow.settledTime ?? 0) + context.params.windowSeconds;
  if (leaves <= context.at.time || isAnswered(escrow)) return;
  if (findAgent(context, escrow.seller) === null) return;
  context.store.update("escrow", id, { unanswered: true });
  countUnanswered(context, escrow.seller, 1);
  schedule(context, leaves, "answered", id);
}

/** Removes an unanswered escrow: it left the window, or got its answer late. */
export function leaveUnanswered(context: ApplyContext, id: string): void {
  const { unanswered, seller } = escrowOf(context, id);
  if (!unanswered) return;
  context.store.update("escrow", id, { unanswered: false });
  countUnanswered(context, seller, -1);
}

/** Whether the seller got money or acted: by marking a delivery, by a receipt, or by its own refund. */
function isAnswered({ status, delivered, receipt, refundedBy, seller }: Row<"escrow">): boolean {
  return status === "released" || delivered || receipt !== null || refundedBy === seller;
}

function countUnreceipted(
  context: ApplyContext,
  { seller, value }: Pick<Row<"unreceipted">, "seller" | "value">,
  by: 1 | -1,
): void {
  const { unreceipted, unreceiptedValue } = agentRow(context, seller);
  updateAgent(context, seller, {
    unreceipted: unreceipted + by,
    unreceiptedValue: unreceiptedValue + BigInt(by) * value,
  });
}

function countUnanswered(context: ApplyContext, seller: string, by: 1 | -1): void {
  const { unanswered } = agentRow(context, seller);
  updateAgent(context, seller, { unanswered: unanswered + by });
}

function escrowOf(context: ApplyContext, id: string): Row<"escrow"> {
  return existingRow(context.store, "escrow", id);
}
