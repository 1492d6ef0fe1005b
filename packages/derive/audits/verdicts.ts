import type { AuditVerdict } from "tallystick-protocol/records/auditVerdict";
import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";
import { assignmentId, assignmentRow, awaitAuditor, endAttempt } from "./assignments.ts";
import { auditorRow } from "./auditors.ts";
import { auditRow, isOperator } from "./auditRow.ts";
import { verdictEarned } from "./fees.ts";
import { noteVerdict } from "./modes.ts";
import { countFor } from "./operators.ts";
import { auditAbandoned, roundDecided, roundExhausted } from "./outcomes.ts";

/**
 * The assignment that a verdict answers, or the reason why the verdict has no effect. A late verdict counts
 * until another auditor is assigned or the round is over.
 */
export function assignmentFor(
  context: ApplyContext,
  signer: string,
  { hire, round, attempt, params_hash, result_hash }: AuditVerdict,
): Row<"auditAssignment"> | string {
  const assignment = context.store.get("auditAssignment", assignmentId(hire, round, attempt));
  if (assignment === null) return `nobody was assigned round ${round}, attempt ${attempt}`;
  const audit = auditRow(context, assignment.audit);
  if (assignment.auditor !== signer) return `signer must be the auditor, ${assignment.auditor}`;
  if (assignment.verdict !== null) return "its auditor gave a verdict before";
  const isOpen = audit.status === "assigned" || audit.status === "assigning";
  if (!isOpen || audit.round !== round || audit.attempt !== attempt) return "the assignment is over";
  if (!isOperator(context, audit.operator)) return `${audit.operator} is no operator of audits`;
  if (audit.paramsHash !== params_hash) return `body.params_hash must be the receipt's, ${audit.paramsHash}`;
  if (audit.resultHash !== result_hash) return `body.result_hash must be the receipt's, ${audit.resultHash}`;
  return assignment;
}

/** Applies an assigned auditor's verdict. */
export function verdictSettled(
  context: ApplyContext,
  assignment: Row<"auditAssignment">,
  { verdict, reasons, record }: { verdict: AuditVerdict["verdict"]; reasons: string; record: string },
): void {
  const { operator, auditor } = assignment;
  const verdictTime = context.at.time;
  context.store.update("auditAssignment", assignment.id, { verdict, reasons, record, verdictTime });
  if (assignment.auditorType === "auditor") {
    const row = auditorRow(context, operator, auditor);
    context.store.update("auditor", row.id, { unanswered: 0, answered: row.answered + 1 });
  } else countFor(context, operator, "issued");
  const audit = auditRow(context, assignment.audit);
  if (audit.capability !== null) noteVerdict(context, { operator, capability: audit.capability }, auditor);
  verdictEarned(context, audit, assignment, verdict);
  if (verdict !== "inconclusive") {
    roundDecided(context, audit, assignment, verdict);
    return;
  }
  if (audit.status === "assigned") nextAttempt(context, audit);
}

/**
 * Called when the time for a verdict is over. If the verdict is missing, another auditor is looked for. A late verdict
 * still counts until another auditor is assigned.
 */
export function verdictDue(context: ApplyContext, id: string): void {
  const assignment = assignmentRow(context, id);
  const audit = auditRow(context, assignment.audit);
  const isCurrent = audit.round === assignment.round && audit.attempt === assignment.attempt;
  if (audit.status !== "assigned" || !isCurrent) return;
  if (!isOperator(context, audit.operator)) {
    auditAbandoned(context, audit);
    return;
  }
  nextAttempt(context, audit);
}

function nextAttempt(context: ApplyContext, audit: Row<"audit">): void {
  if (audit.attempt < context.params.audit.maxAttempts) {
    awaitAuditor(context, audit);
    return;
  }
  endAttempt(context, audit);
  roundExhausted(context, audit);
}
