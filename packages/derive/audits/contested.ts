import { schedule } from "../agenda.ts";
import { agentRow, findAgent, updateAgent } from "../agentRow.ts";
import { amendHire } from "../hires.ts";
import type { Outcome } from "../outcome.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { changeAudit } from "./auditRow.ts";
import { enqueue } from "./queues.ts";

/** All of them, in parts per million. */
const ALWAYS = 1_000_000;

/**
 * A buyer took its money back after the seller had marked delivery: it says that the work was bad, and the seller that it was done. An
 * audit that was not drawn before is one of that refund.
 */
export function isContested({ refundedBy, buyer, delivered }: Row<"escrow">): boolean {
  return refundedBy === buyer && delivered;
}

/** A hire was refunded so that may be audited, or was. */
export async function refundContested(step: Step, escrow: Row<"escrow">): Promise<void> {
  const audit = isContested(escrow) ? await step.store.get("audit", escrow.id) : null;
  if (audit === null) return;
  if (audit.status === "passed") await falsify(step, audit);
  if (audit.status !== "eligible") return;
  const contested = await changeAudit(step, audit, { cause: "contested" });
  if (!(await isDrawnAlways(step, audit))) return;
  await changeAudit(step, contested, { ppm: ALWAYS });
  await enqueue(step, "sample", { hire: audit.id, operator: audit.operator, ppm: ALWAYS });
}

/** The rate of a contested hire: the first of a buyer and seller in so long is drawn for certain, when it is not too small. */
export async function contestedPpm(
  step: Step,
  hire: Pick<Row<"audit">, "buyer" | "seller" | "amount">,
  ppm: number,
): Promise<number> {
  return (await isDrawnAlways(step, hire)) ? ALWAYS : ppm;
}

/** An audit found good work where the buyer had taken its money back: the hire says nothing of the seller then, and something of the buyer. */
export async function passedContested(step: Step, audit: Row<"audit">): Promise<void> {
  const escrow = await step.store.get("escrow", audit.hire);
  if (escrow !== null && isContested(escrow)) await falsify(step, audit);
}

/** The seller signed something else, too: the refund was none of that kind. */
export async function refundVindicated(step: Step, audit: Row<"audit">): Promise<void> {
  const escrow = await step.store.get("escrow", audit.hire);
  if (escrow === null || !isContested(escrow)) return;
  await leaveFalseRefunds(step, audit.id);
  if (escrow.hire !== null) await amendHire(step, escrow.hire, { outcome: "failure", evidence: "escrow" });
}

/** A refund that was found false is as old as the window, or false no more. */
export async function leaveFalseRefunds(step: Step, id: string): Promise<void> {
  const audit = await step.store.get("audit", id);
  if (audit === null || !audit.isRefundFalse) return;
  await step.store.update("audit", id, { isRefundFalse: false });
  await changeFalseRefunds(step, audit.buyer, -1);
}

/** What a refund after delivery comes to: of a buyer that has a false one in the window it says nothing. */
export async function trustedOutcome(step: Step, buyer: string, settled: Outcome): Promise<Outcome> {
  if (!settled.refundAfterDelivery) return settled;
  const falseRefunds = (await findAgent(step, buyer))?.falseRefunds ?? 0;
  return falseRefunds > 0 ? { ...settled, outcome: "neutral" } : settled;
}

async function falsify(step: Step, audit: Row<"audit">): Promise<void> {
  const escrow = (await step.store.get("escrow", audit.hire)) as Row<"escrow">;
  if (escrow.hire !== null) await amendHire(step, escrow.hire, { outcome: "neutral", evidence: "audit" });
  // Who had said before that nothing came does not say that the work was bad.
  if (escrow.nothingCame || audit.canary !== null) return;
  await changeAudit(step, audit, { isRefundFalse: true });
  await changeFalseRefunds(step, audit.buyer, 1);
  const due = Math.max(step.at.time + step.params.windowSeconds, step.state.time + 1);
  await schedule(step, due, "falseRefund", audit.id);
}

async function changeFalseRefunds(step: Step, buyer: string, by: 1 | -1): Promise<void> {
  const { falseRefunds } = await agentRow(step, buyer);
  await updateAgent(step, buyer, { falseRefunds: falseRefunds + by });
}

async function isDrawnAlways(
  step: Step,
  { buyer, seller, amount }: Pick<Row<"audit">, "buyer" | "seller" | "amount">,
): Promise<boolean> {
  const { contestedMinAtomic, contestedSeconds } = step.params.audit;
  if (amount < BigInt(contestedMinAtomic)) return false;
  const id = `${buyer}/${seller}`;
  const { time } = step.at;
  const last = await step.store.get("contestedPair", id);
  if (last !== null && time - last.time < contestedSeconds) return false;
  if (last === null) await step.store.insert("contestedPair", { id, time });
  else await step.store.update("contestedPair", id, { time });
  return true;
}
