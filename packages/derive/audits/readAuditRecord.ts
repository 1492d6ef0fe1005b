import { parseAuditActuation } from "tallystick-protocol/records/auditActuation";
import { type Auditor, parseAuditor } from "tallystick-protocol/records/auditor";
import { parseAuditVerdict } from "tallystick-protocol/records/auditVerdict";
import type { RecordEvent } from "../events.ts";
import type { Step } from "../step.ts";
import { auditorSettled, findAuditor } from "./auditors.ts";
import { changeAudit, isOperator } from "./auditRow.ts";
import { rollBack } from "./effects.ts";
import { assignmentFor, verdictSettled } from "./verdicts.ts";

/** What a record does, or why it counts for nothing. */
export type Reading = (() => Promise<void>) | string;

export async function readAuditor(step: Step, event: RecordEvent): Promise<Reading> {
  const offer: Auditor = parseAuditor(event.body);
  if (event.signer !== offer.agent_id) return `signer must be the agent itself, ${offer.agent_id}`;
  if (!isOperator(step, offer.operator)) return `body.operator ${offer.operator} is no operator of audits`;
  const known = await findAuditor(step, offer.operator, offer.agent_id);
  if (known !== null && known.issuedAt >= offer.issued_at)
    return `body.issued_at must be above ${known.issuedAt}`;
  return () => auditorSettled(step, offer);
}

export async function readActuation(step: Step, event: RecordEvent): Promise<Reading> {
  const { hire, decision } = parseAuditActuation(event.body);
  const audit = await step.store.get("audit", hire);
  if (audit === null || audit.status !== "failed") return "no audit of this hire has failed";
  if (audit.operator !== event.signer) return `signer must be the audit's operator, ${audit.operator}`;
  if (!isOperator(step, audit.operator)) return `${audit.operator} is no operator of audits`;
  if (audit.decision !== null) return `its operator decided before: ${audit.decision}`;
  return async () => {
    const decided = await changeAudit(step, audit, { decision, decisionRecord: event.hash });
    if (decision === "rollback") await rollBack(step, decided);
  };
}

export async function readVerdict(step: Step, event: RecordEvent): Promise<Reading> {
  const body = parseAuditVerdict(event.body);
  const assignment = await assignmentFor(step, event.signer, body);
  if (typeof assignment === "string") return assignment;
  const reasons = body.reasons.map(({ code }) => code).join(",");
  return () => verdictSettled(step, assignment, { verdict: body.verdict, reasons, record: event.hash });
}
