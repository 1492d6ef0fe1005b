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

/** An audit is over after this many rounds, even without a result. */
const MAX_ROUNDS = 3;

/**
 * Called when a round has a verdict. One pass is enough, unless the audit is judged again. A second auditor has to
 * confirm a fail. If one auditor passes the work and one fails it, a third decides (SHP §8.3.1). If the operator
 * itself gave the fail, only a drawn auditor can confirm it (SHP §8.3.4.2).
 */
export function roundDecided(
  context: ApplyContext,
  before: Row<"audit">,
  { auditorType }: Pick<Row<"auditAssignment">, "auditorType">,
  verdict: "pass" | "fail",
): void {
  const isOwn = auditorType === "operator-issued" && verdict === "fail";
  const audit = changeAudit(context, before, {
    verdicts: `${before.verdicts}${verdict === "pass" ? "p" : "f"}`,
    operatorFails: before.operatorFails + Number(isOwn),
  });
  const count = (letter: string) => audit.verdicts.split(letter).length - 1;
  if (count("f") >= 2 && count("f") > audit.operatorFails) {
    end(context, audit, "failed");
    return;
  }
  if (count("p") >= 2) {
    end(context, audit, "passed");
    return;
  }
  if (audit.verdicts.length >= MAX_ROUNDS) {
    end(context, audit, "inconclusive");
    return;
  }
  if (audit.verdicts !== "p") {
    awaitAuditor(context, audit, audit.round + 1);
    return;
  }
  const { recheckPpm: ppm } = context.params.audit;
  changeAudit(context, audit, { status: "rechecking" });
  enqueue(context, "recheck", { hire: audit.id, operator: audit.operator, ppm });
}

/** Called when a round ends and no auditor passed or failed the work. */
export function roundExhausted(context: ApplyContext, audit: Row<"audit">): void {
  end(context, audit, "inconclusive");
}

export function auditPassed(context: ApplyContext, audit: Row<"audit">): void {
  end(context, audit, "passed");
}

/** Called when the operator of an audit has left the parameters. */
export function auditAbandoned(context: ApplyContext, audit: Row<"audit">): void {
  const stood = { assigning: "Unassigned", assigned: "Assigned", rechecking: "Rechecking" } as const;
  const at = stood[audit.status as keyof typeof stood];
  countFor(context, audit.operator, `abandoned${at}`);
  end(context, audit, "abandoned");
}

/**
 * Called when a drawn hire has no receipt that an auditor can use: no receipt with both hashes and the hire's id came
 * in time, or the seller does not list the capability of the receipt. The audit fails by the rules, without an auditor.
 */
export function failUndisclosed(context: ApplyContext, audit: Row<"audit">): void {
  const { auditsUndisclosed } = agentRow(context, audit.seller);
  updateAgent(context, audit.seller, { auditsUndisclosed: auditsUndisclosed + 1 });
  end(context, audit, "failed", "undisclosed");
}

/**
 * Called when the seller signed two different things about one hire. The audit fails by the rules, even if it
 * was not drawn or an auditor found the work good.
 */
export function failEquivocal(context: ApplyContext, audit: Row<"audit">): void {
  if (audit.status === "failed" || audit.status === "abandoned") return;
  const cause = audit.status === "eligible" ? "rules" : audit.cause;
  end(context, changeAudit(context, audit, { cause }), "failed", "equivocation");
}

function end(
  context: ApplyContext,
  audit: Row<"audit">,
  status: AuditEnd,
  reason: string | null = null,
): void {
  // An audit that passed ends again, as failed, if its seller turns out to have signed two different receipts. Then its
  // first result must not count.
  const open = uncountAudit(context, audit);
  // The hire of a contested refund already counts as a failure, so a failed audit changes nothing.
  const isContested = audit.cause === "contested";
  const isFailed = status === "failed" && !isHistory(audit) && !isContested;
  const mode = isFailed ? modeOf(context, audit.operator, audit.capability) : null;
  const ended = changeAudit(context, open, { status, reason, mode, closedTime: context.at.time });
  if (reason === null && (status === "passed" || status === "failed")) judgeAuditors(context, ended, status);
  if (isHistory(ended)) {
    historyEnded(context, ended, status);
    return;
  }
  // If the audit ended before, its earlier result no longer counts in the operator's figures.
  if (audit.status === "passed" || audit.status === "inconclusive")
    countFor(context, audit.operator, audit.status, -1);
  if (audit.status === "passed") refundVindicated(context, ended);
  if (reason !== null) countFor(context, audit.operator, reason === "undisclosed" ? reason : "equivocal");
  else if (status !== "abandoned") countFor(context, audit.operator, status);
  if (status === "failed" && reason === null) failConfirmed(context, ended);
  if (status === "passed") {
    if (!isContested) countAudit(context, ended, "passed");
    passedContested(context, ended);
  }
  if (mode === "mature") rollBack(context, changeAudit(context, ended, { decision: "rollback" }));
}
