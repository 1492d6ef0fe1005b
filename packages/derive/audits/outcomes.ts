import { agentRow, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";
import { judgeAuditors } from "./agreement.ts";
import { awaitAuditor } from "./assignments.ts";
import { type AuditEnd, changeAudit } from "./auditRow.ts";
import { passedContested, refundVindicated } from "./contested.ts";
import { countAudit, rollBack, uncountAudit } from "./effects.ts";
import { failConfirmed } from "./fees.ts";
import { historyEnded, isHistory } from "./history.ts";
import { modeOf } from "./modes.ts";
import { countFor } from "./operators.ts";
import { enqueue } from "./queues.ts";

/** After this many rounds an audit is over, whatever they found. */
const MAX_ROUNDS = 3;

/**
 * A round has a verdict. One pass is enough, unless the audit is judged again. A fail has to be confirmed by a second
 * auditor. After one of each a third decides (SHP §8.3.1). Only a drawn auditor confirms a fail of the operator's own (SHP
 * §8.3.4.2).
 */
export async function roundDecided(
  context: ApplyContext,
  before: Row<"audit">,
  { auditorType }: Pick<Row<"auditAssignment">, "auditorType">,
  verdict: "pass" | "fail",
): Promise<void> {
  const isOwn = auditorType === "operator-issued" && verdict === "fail";
  const audit = await changeAudit(context, before, {
    verdicts: `${before.verdicts}${verdict === "pass" ? "p" : "f"}`,
    operatorFails: before.operatorFails + Number(isOwn),
  });
  const count = (letter: string) => audit.verdicts.split(letter).length - 1;
  if (count("f") >= 2 && count("f") > audit.operatorFails) return end(context, audit, "failed");
  if (count("p") >= 2) return end(context, audit, "passed");
  if (audit.verdicts.length >= MAX_ROUNDS) return end(context, audit, "inconclusive");
  if (audit.verdicts !== "p") {
    await awaitAuditor(context, audit, audit.round + 1);
    return;
  }
  const { recheckPpm: ppm } = context.params.audit;
  await changeAudit(context, audit, { status: "rechecking" });
  await enqueue(context, "recheck", { hire: audit.id, operator: audit.operator, ppm });
}

/** Nobody gave a verdict in a round, however many were asked. */
export function roundExhausted(context: ApplyContext, audit: Row<"audit">): Promise<void> {
  return end(context, audit, "inconclusive");
}

export function auditPassed(context: ApplyContext, audit: Row<"audit">): Promise<void> {
  return end(context, audit, "passed");
}

/** Its operator is no longer one. */
export async function auditAbandoned(context: ApplyContext, audit: Row<"audit">): Promise<void> {
  const stood = { assigning: "Unassigned", assigned: "Assigned", rechecking: "Rechecking" } as const;
  const at = stood[audit.status as keyof typeof stood];
  await countFor(context, audit.operator, `abandoned${at}`);
  return end(context, audit, "abandoned");
}

/** The seller disclosed nothing of what it did: failed by the rules, without an auditor. */
export async function failUndisclosed(context: ApplyContext, audit: Row<"audit">): Promise<void> {
  const { auditsUndisclosed } = await agentRow(context, audit.seller);
  await updateAgent(context, audit.seller, { auditsUndisclosed: auditsUndisclosed + 1 });
  return end(context, audit, "failed", "undisclosed");
}

/** The seller signed two things about one hire: failed by the rules, drawn or not, whatever auditors found. */
export async function failEquivocal(context: ApplyContext, audit: Row<"audit">): Promise<void> {
  if (audit.status === "failed" || audit.status === "abandoned") return;
  const cause = audit.status === "eligible" ? "rules" : audit.cause;
  await end(context, await changeAudit(context, audit, { cause }), "failed", "equivocation");
}

async function end(
  context: ApplyContext,
  audit: Row<"audit">,
  status: AuditEnd,
  reason: string | null = null,
): Promise<void> {
  // A hire that had passed fails when its seller turns out to have signed twice.
  const open = await uncountAudit(context, audit);
  // A contested refund is a failure already, made by the refunding side: nothing follows.
  const isContested = audit.cause === "contested";
  const isFailed = status === "failed" && !isHistory(audit) && !isContested;
  const mode = isFailed ? await modeOf(context, audit.operator, audit.capability) : null;
  const ended = await changeAudit(context, open, { status, reason, mode, closedTime: context.at.time });
  if (reason === null && (status === "passed" || status === "failed"))
    await judgeAuditors(context, ended, status);
  if (isHistory(ended)) return historyEnded(context, ended, status);
  // An equivocation may end it a second time.
  if (audit.status === "passed" || audit.status === "inconclusive")
    await countFor(context, audit.operator, audit.status, -1);
  if (audit.status === "passed") await refundVindicated(context, ended);
  if (reason !== null)
    await countFor(context, audit.operator, reason === "undisclosed" ? reason : "equivocal");
  else if (status !== "abandoned") await countFor(context, audit.operator, status);
  if (status === "failed" && reason === null) await failConfirmed(context, ended);
  if (status === "passed") {
    if (!isContested) await countAudit(context, ended, "passed");
    await passedContested(context, ended);
  }
  if (mode === "mature") await rollBack(context, await changeAudit(context, ended, { decision: "rollback" }));
}
