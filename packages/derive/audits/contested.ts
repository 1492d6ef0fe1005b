import { agentRow, findAgent, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { amendHire } from "../hires.ts";
import type { Outcome } from "../outcome.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";
import { changeAudit } from "./auditRow.ts";
import { enqueue } from "./queues.ts";

/** A million parts per million: all of them. */
const ALWAYS = 1_000_000;

/**
 * A buyer took its money back after the seller had marked delivery. The buyer says that the work was bad, and the seller
 * that it was done. An audit that was not drawn yet becomes an audit of that refund.
 */
export function isContested({ refundedBy, buyer, delivered }: Row<"escrow">): boolean {
  return refundedBy === buyer && delivered;
}

/** A hire with such a refund may be audited, or was. */
export async function refundContested(context: ApplyContext, escrow: Row<"escrow">): Promise<void> {
  const audit = isContested(escrow) ? await context.store.get("audit", escrow.id) : null;
  if (audit === null) return;
  if (audit.status === "passed") await falsify(context, audit);
  if (audit.status !== "eligible") return;
  const contested = await changeAudit(context, audit, { cause: "contested" });
  if (!(await isDrawnAlways(context, audit))) return;
  await changeAudit(context, contested, { ppm: ALWAYS });
  await enqueue(context, "sample", { hire: audit.id, operator: audit.operator, ppm: ALWAYS });
}

/**
 * The rate of a contested hire. The first of a buyer and seller in the period is always drawn, if its amount is large
 * enough.
 */
export async function contestedPpm(
  context: ApplyContext,
  hire: Pick<Row<"audit">, "buyer" | "seller" | "amount">,
  ppm: number,
): Promise<number> {
  return (await isDrawnAlways(context, hire)) ? ALWAYS : ppm;
}

/**
 * An audit found good work although the buyer had taken its money back. The hire then says nothing of the seller, and
 * counts against the buyer.
 */
export async function passedContested(context: ApplyContext, audit: Row<"audit">): Promise<void> {
  const escrow = await context.store.get("escrow", audit.hire);
  if (escrow !== null && isContested(escrow)) await falsify(context, audit);
}

/** The seller also signed something else: the refund does not count as false. */
export async function refundVindicated(context: ApplyContext, audit: Row<"audit">): Promise<void> {
  const escrow = await context.store.get("escrow", audit.hire);
  if (escrow === null || !isContested(escrow)) return;
  await leaveFalseRefunds(context, audit.id);
  if (escrow.hire !== null) await amendHire(context, escrow.hire, { outcome: "failure", evidence: "escrow" });
}

/** A false refund leaves the window, or is no longer false. */
export async function leaveFalseRefunds(context: ApplyContext, id: string): Promise<void> {
  const audit = await context.store.get("audit", id);
  if (audit === null || !audit.isRefundFalse) return;
  await context.store.update("audit", id, { isRefundFalse: false });
  await changeFalseRefunds(context, audit.buyer, -1);
}

/** What a refund after delivery means. A buyer with a false refund in the window is not believed. */
export async function trustedOutcome(
  context: ApplyContext,
  buyer: string,
  settled: Outcome,
): Promise<Outcome> {
  if (!settled.refundAfterDelivery) return settled;
  const falseRefunds = (await findAgent(context, buyer))?.falseRefunds ?? 0;
  return falseRefunds > 0 ? { ...settled, outcome: "neutral" } : settled;
}

async function falsify(context: ApplyContext, audit: Row<"audit">): Promise<void> {
  const escrow = (await context.store.get("escrow", audit.hire)) as Row<"escrow">;
  if (escrow.hire !== null) await amendHire(context, escrow.hire, { outcome: "neutral", evidence: "audit" });
  // A buyer that had said before that nothing arrived does not say that the work was bad.
  if (escrow.nothingCame || audit.canary !== null) return;
  await changeAudit(context, audit, { isRefundFalse: true });
  await changeFalseRefunds(context, audit.buyer, 1);
  const due = Math.max(context.at.time + context.params.windowSeconds, context.state.time + 1);
  await schedule(context, due, "falseRefund", audit.id);
}

async function changeFalseRefunds(context: ApplyContext, buyer: string, by: 1 | -1): Promise<void> {
  const { falseRefunds } = await agentRow(context, buyer);
  await updateAgent(context, buyer, { falseRefunds: falseRefunds + by });
}

async function isDrawnAlways(
  context: ApplyContext,
  { buyer, seller, amount }: Pick<Row<"audit">, "buyer" | "seller" | "amount">,
): Promise<boolean> {
  const { contestedMinAtomic, contestedSeconds } = context.params.audit;
  if (amount < BigInt(contestedMinAtomic)) return false;
  const id = `${buyer}/${seller}`;
  const { time } = context.at;
  const last = await context.store.get("contestedPair", id);
  if (last !== null && time - last.time < contestedSeconds) return false;
  if (last === null) await context.store.insert("contestedPair", { id, time });
  else await context.store.update("contestedPair", id, { time });
  return true;
}
