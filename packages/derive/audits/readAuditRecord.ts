import { type Auditor, parseAuditor } from "tallystick-protocol/records/auditor";
import { parseAuditVerdict } from "tallystick-protocol/records/auditVerdict";
import type { RecordEvent } from "../events.ts";
import type { Step } from "../step.ts";
import { auditorSettled, findAuditor } from "./auditors.ts";
import { isOperator } from "./auditRow.ts";
import type { Reading } from "./reading.ts";
import { assignmentFor, verdictSettled } from "./verdicts.ts";

export async function readAuditor(step: Step, event: RecordEvent): Promise<Reading> {
  const offer: Auditor = parseAuditor(event.body);
  if (event.signer !== offer.agent_id) return `signer must be the agent itself, ${offer.agent_id}`;
  if (!isOperator(step, offer.operator)) return `body.operator ${offer.operator} is no operator of audits`;
  const known = await findAuditor(step, offer.operator, offer.agent_id);
  if (known !== null && known.issuedAt >= offer.issued_at)
    return `body.issued_at must be above ${known.issuedAt}`;
  if (known !== null && known.barredUntil !== null && step.at.time < known.barredUntil)
    return `it was taken out for ${known.removedFor}: an offer counts from ${known.barredUntil} on`;
  return () => auditorSettled(step, offer);
}

export async function readVerdict(step: Step, event: RecordEvent): Promise<Reading> {
  const body = parseAuditVerdict(event.body);
  const assignment = await assignmentFor(step, event.signer, body);
  if (typeof assignment === "string") return assignment;
  const reasons = body.reasons.map(({ code }) => code).join(",");
  return () => verdictSettled(step, assignment, { verdict: body.verdict, reasons, record: event.hash });
}
