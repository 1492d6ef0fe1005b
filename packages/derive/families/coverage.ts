import { agentRow, findAgent, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { directHireId } from "../hireId.ts";
import type { Place } from "../place.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";

type Paid = Place & { time: number; from: string; to: string; value: bigint; tx: string };

/**
 * Waits for the receipt of an authorized payment that reached a seller with a live listing. The receipt must
 * claim it in time.
 */
export function awaitReceipt(
  context: ApplyContext,
  { tx, log, block, time, from, to, value }: Paid,
): Promise<void> {
  // One second more, so that the first tick after the whole waiting time decides.
  const due = time + context.params.reconcileSeconds + 1;
  return schedule(
    context,
    due,
    "unreceipted",
    [directHireId(tx, log), to, from, value, block, time].join(" "),
  );
}

/** The waiting time is over. A payment without a hire counts as unreceipted while it is in the window. */
export async function receiptIsDue(
  context: ApplyContext,
  id: string,
  words: readonly string[],
): Promise<void> {
  const [seller = "", buyer = "", value = "0", block, time] = words;
  const leaves = Number(time) + context.params.windowSeconds;
  if (leaves <= context.at.time || (await context.store.get("hire", id)) !== null) return;
  // A log may contain the same transfer twice. It is still one payment.
  if ((await context.store.get("unreceipted", id)) !== null) return;
  const row = { id, seller, buyer, value: BigInt(value), block: Number(block), time: Number(time) };
  await context.store.insert("unreceipted", { ...row, inWindow: true });
  await countUnreceipted(context, row, 1);
  await schedule(context, leaves, "unpaid", id);
}

/** Removes an unreceipted payment: it left the window, or got its receipt late. */
export async function leaveUnreceipted(context: ApplyContext, id: string): Promise<void> {
  const row = await context.store.get("unreceipted", id);
  if (row === null || !row.inWindow) return;
  await context.store.update("unreceipted", id, { inWindow: false });
  await countUnreceipted(context, row, -1);
}

/**
 * Waits for the seller's answer after an escrow went back to its buyer. Without an answer in time the escrow
 * counts as unanswered.
 */
export async function awaitAnswer(context: ApplyContext, escrow: Row<"escrow">): Promise<void> {
  if (escrow.amount < BigInt(context.params.minHireAtomic) || isAnswered(escrow)) return;
  await schedule(context, context.at.time + context.params.reconcileSeconds + 1, "unanswered", escrow.id);
}

export async function answerIsDue(context: ApplyContext, id: string): Promise<void> {
  const escrow = await escrowOf(context, id);
  const leaves = (escrow.settledTime ?? 0) + context.params.windowSeconds;
  if (leaves <= context.at.time || isAnswered(escrow)) return;
  if ((await findAgent(context, escrow.seller)) === null) return;
  await context.store.update("escrow", id, { unanswered: true });
  await countUnanswered(context, escrow.seller, 1);
  await schedule(context, leaves, "answered", id);
}

/** Removes an unanswered escrow: it left the window, or got its answer late. */
export async function leaveUnanswered(context: ApplyContext, id: string): Promise<void> {
  const { unanswered, seller } = await escrowOf(context, id);
  if (!unanswered) return;
  await context.store.update("escrow", id, { unanswered: false });
  await countUnanswered(context, seller, -1);
}

/** Whether the seller got money or acted: by marking a delivery, by a receipt, or by its own refund. */
function isAnswered({ status, delivered, receipt, refundedBy, seller }: Row<"escrow">): boolean {
  return status === "released" || delivered || receipt !== null || refundedBy === seller;
}

async function countUnreceipted(
  context: ApplyContext,
  { seller, value }: Pick<Row<"unreceipted">, "seller" | "value">,
  by: 1 | -1,
): Promise<void> {
  const { unreceipted, unreceiptedValue } = await agentRow(context, seller);
  await updateAgent(context, seller, {
    unreceipted: unreceipted + by,
    unreceiptedValue: unreceiptedValue + BigInt(by) * value,
  });
}

async function countUnanswered(context: ApplyContext, seller: string, by: 1 | -1): Promise<void> {
  const { unanswered } = await agentRow(context, seller);
  await updateAgent(context, seller, { unanswered: unanswered + by });
}

async function escrowOf(context: ApplyContext, id: string): Promise<Row<"escrow">> {
  const escrow = await context.store.get("escrow", id);
  if (escrow === null) throw new Error(`The escrow ${id} was never deposited.`);
  return escrow;
}
