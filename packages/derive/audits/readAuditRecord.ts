import { type Auditor, parseAuditor } from "tallystick-protocol/records/auditor";
import { parseAuditVerdict } from "tallystick-protocol/records/auditVerdict";
import type { ApplyContext } from "../applyContext.ts";
import type { RecordEvent } from "../events.ts";
import { auditorSettled, findAuditor } from "./auditors.ts";
import { isOperator } from "./auditRow.ts";
import type { Reading } from "./reading.ts";
import { assignmentFor, verdictSettled } from "./verdicts.ts";

export function readAuditor(context: ApplyContext, event: RecordEvent): Reading {
  const offer: Auditor = parseAuditor(event.body);
  if (event.signer !== offer.agent_id) return `signer must be the agent itself, ${offer.agent_id}`;
  if (!isOperator(context, offer.operator)) return `body.operator ${offer.operator} is no operator of audits`;
  const known = findAuditor(context, offer.operator, offer.agent_id);
  if (known !== null && known.issuedAt >= offer.issued_at)
    return `body.issued_at must be above ${known.issuedAt}`;
  if (known !== null && known.barredUntil !== null && context.at.time < known.barredUntil)
    return `it was taken out for ${known.removedFor}: an offer counts from ${known.barredUntil} on`;
  return () => auditorSettled(context, offer);
}

export function readVerdict(context: ApplyContext, event: RecordEvent): Reading {
  const body = parseAuditVerdict(event.body);
  const assignment = assignmentFor(context, event.signer, body);
  if (typeof assignment === "string") return assignment;
  const reasons = body.reasons.map(({ code }) => code).join(",");
  return () => verdictSettled(context, assignment, { verdict: body.verdict, reasons, record: event.hash });
}
