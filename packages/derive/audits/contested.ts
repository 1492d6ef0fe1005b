import { agentRow, findAgent, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { amendHire } from "../hires.ts";
import type { Outcome } from "../outcome.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";
import { changeAudit } from "./auditRow.ts";
import { enqueue } from "./queues.ts";

/** The whole, in parts per million. */
const ALWAYS = 1_000_000;

/**
 * Whether a buyer took its money back after the seller had marked delivery. Then buyer and seller contradict each
 * other: the buyer says that the work was bad, and the seller says that it was done. An audit that was not drawn yet
 * becomes an audit of this refund.
 */
export function isContested({ takenBack, delivered }: Row<"escrow">): boolean {
  return takenBack && delivered;
}

/** Handles a refund after delivery of a hire that may be audited, or that already was. */
export function refundContested(context: ApplyContext, escrow: Row<"escrow">): void {
  const audit = isContested(escrow) ? context.store.get("audit", escrow.id) : null;
  if (audit === null) return;
  if (audit.status === "passed") falsify(context, audit);
  if (audit.status !== "eligible") return;
  const contested = changeAudit(context, audit, { cause: "contested" });
  if (!isDrawnAlways(context, audit)) return;
  changeAudit(context, contested, { ppm: ALWAYS });
  enqueue(context, "sample", { hire: audit.id, operator: audit.operator, ppm: ALWAYS });
}

/**
 * The rate at which a contested hire is drawn. The first contested hire between a buyer and a seller in the
 * period is always drawn, if its amount is large enough.
 */
export function contestedPpm(
  context: ApplyContext,
  hire: Pick<Row<"audit">, "buyer" | "seller" | "amount">,
  ppm: number,
): number {
  return isDrawnAlways(context, hire) ? ALWAYS : ppm;
}

/**
 * Called when an audit passed a hire. If the buyer had taken its money back after delivery, the hire no longer counts
 * for or against the seller. The refund counts as false, unless the buyer had reported that nothing arrived.
 */
export function passedContested(context: ApplyContext, audit: Row<"audit">): void {
  const escrow = context.store.get("escrow", audit.hire);
  if (escrow !== null && isContested(escrow)) falsify(context, audit);
}

/**
 * Called when the seller has signed two receipts with different hashes for a hire. If the buyer took its money back
 * after delivery, the refund is not false, and the hire is a failure.
 */
export function refundVindicated(context: ApplyContext, audit: Row<"audit">): void {
  const escrow = context.store.get("escrow", audit.hire);
  if (escrow === null || !isContested(escrow)) return;
  leaveFalseRefunds(context, audit.id);
  if (escrow.hire !== null) amendHire(context, escrow.hire, { outcome: "failure", evidence: "escrow" });
}

/** Removes a false refund: it left the window, or is no longer false. */
export function leaveFalseRefunds(context: ApplyContext, id: string): void {
  const audit = context.store.get("audit", id);
  if (audit === null || !audit.isRefundFalse) return;
  context.store.update("audit", id, { isRefundFalse: false });
  changeFalseRefunds(context, audit.buyer, -1);
}

/** What a refund after delivery means. A buyer with a false refund in the window is not believed. */
export function trustedOutcome(context: ApplyContext, buyer: string, settled: Outcome): Outcome {
  if (!settled.refundAfterDelivery) return settled;
  const falseRefunds = findAgent(context, buyer)?.falseRefunds ?? 0;
  return falseRefunds > 0 ? { ...settled, outcome: "neutral" } : settled;
}

function falsify(context: ApplyContext, audit: Row<"audit">): void {
  const escrow = context.store.get("escrow", audit.hire) as Row<"escrow">;
  if (escrow.hire !== null) amendHire(context, escrow.hire, { outcome: "neutral", evidence: "audit" });
  // A buyer may have reported, before it took its money back, that nothing arrived. Then the refund says nothing
  // about the quality of the work.
  if (escrow.nothingCame || audit.canary !== null) return;
  changeAudit(context, audit, { isRefundFalse: true });
  changeFalseRefunds(context, audit.buyer, 1);
  schedule(context, context.at.time + context.params.windowSeconds, "falseRefund", audit.id);
}

function changeFalseRefunds(context: ApplyContext, buyer: string, by: 1 | -1): void {
  const { falseRefunds } = agentRow(context, buyer);
  updateAgent(context, buyer, { falseRefunds: falseRefunds + by });
}

/**
 * Whether a contested hire is always drawn. If it is, this notes the time: within the period, the pair's next contested
 * hire is not always drawn.
 */
function isDrawnAlways(
  context: ApplyContext,
  { buyer, seller, amount }: Pick<Row<"audit">, "buyer" | "seller" | "amount">,
): boolean {
  const { contestedMinAtomic, contestedSeconds } = context.params.audit;
  if (amount < BigInt(contestedMinAtomic)) return false;
  const id = `${buyer}/${seller}`;
  const { time } = context.at;
  const last = context.store.get("contestedPair", id);
  if (last !== null && time - last.time < contestedSeconds) return false;
  context.store.put("contestedPair", { id, time });
  return true;
}
