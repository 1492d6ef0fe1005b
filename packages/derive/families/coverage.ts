import { schedule } from "../agenda.ts";
import { agentRow, findAgent, updateAgent } from "../agentRow.ts";
import { directHireId } from "../hireId.ts";
import type { Place } from "../place.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";

type Paid = Place & { time: number; from: string; to: string; value: bigint; tx: string };

/** An authorized payment reached a seller with a live listing: a receipt has to claim it in time. */
export function awaitReceipt(step: Step, { tx, log, block, time, from, to, value }: Paid): Promise<void> {
  // One second more: it is decided by the first tick that is later than the whole waiting time.
  const due = time + step.params.reconcileSeconds + 1;
  return schedule(step, due, "unreceipted", [directHireId(tx, log), to, from, value, block, time].join(" "));
}

/** The time is over: without a hire the payment has no receipt, while it is in the window. */
export async function receiptIsDue(step: Step, id: string, words: readonly string[]): Promise<void> {
  const [seller = "", buyer = "", value = "0", block, time] = words;
  const leaves = Number(time) + step.params.windowSeconds;
  if (leaves <= step.at.time || (await step.store.get("hire", id)) !== null) return;
  // A log that tells one transfer twice tells of one payment.
  if ((await step.store.get("unreceipted", id)) !== null) return;
  const row = { id, seller, buyer, value: BigInt(value), block: Number(block), time: Number(time) };
  await step.store.insert("unreceipted", { ...row, inWindow: true });
  await countUnreceipted(step, row, 1);
  await schedule(step, leaves, "unpaid", id);
}

/** A payment without a receipt leaves the window, or has one after all. */
export async function leaveUnreceipted(step: Step, id: string): Promise<void> {
  const row = await step.store.get("unreceipted", id);
  if (row === null || !row.inWindow) return;
  await step.store.update("unreceipted", id, { inWindow: false });
  await countUnreceipted(step, row, -1);
}

/** An escrow went back to its buyer: if its seller does not say anything of it in time either, it left it unanswered. */
export async function awaitAnswer(step: Step, escrow: Row<"escrow">): Promise<void> {
  if (escrow.amount < BigInt(step.params.minHireAtomic) || isAnswered(escrow)) return;
  await schedule(step, step.at.time + step.params.reconcileSeconds + 1, "unanswered", escrow.id);
}

export async function answerIsDue(step: Step, id: string): Promise<void> {
  const escrow = await escrowOf(step, id);
  const leaves = (escrow.settledTime ?? 0) + step.params.windowSeconds;
  if (leaves <= step.at.time || isAnswered(escrow)) return;
  if ((await findAgent(step, escrow.seller)) === null) return;
  await step.store.update("escrow", id, { unanswered: true });
  await countUnanswered(step, escrow.seller, 1);
  await schedule(step, leaves, "answered", id);
}

/** It leaves the window, or is answered after all. */
export async function leaveUnanswered(step: Step, id: string): Promise<void> {
  const { unanswered, seller } = await escrowOf(step, id);
  if (!unanswered) return;
  await step.store.update("escrow", id, { unanswered: false });
  await countUnanswered(step, seller, -1);
}

/** Whether money went to its seller, or the seller ever acted: by a delivery, a receipt, or by giving up. */
function isAnswered({ status, delivered, receipt, refundedBy, seller }: Row<"escrow">): boolean {
  return status === "released" || delivered || receipt !== null || refundedBy === seller;
}

async function countUnreceipted(
  step: Step,
  { seller, value }: Pick<Row<"unreceipted">, "seller" | "value">,
  by: 1 | -1,
): Promise<void> {
  const { unreceipted, unreceiptedValue } = await agentRow(step, seller);
  await updateAgent(step, seller, {
    unreceipted: unreceipted + by,
    unreceiptedValue: unreceiptedValue + BigInt(by) * value,
  });
}

async function countUnanswered(step: Step, seller: string, by: 1 | -1): Promise<void> {
  const { unanswered } = await agentRow(step, seller);
  await updateAgent(step, seller, { unanswered: unanswered + by });
}

async function escrowOf(step: Step, id: string): Promise<Row<"escrow">> {
  const escrow = await step.store.get("escrow", id);
  if (escrow === null) throw new Error(`The escrow ${id} was never deposited.`);
  return escrow;
}
