import type { Address } from "tallystick-protocol/address";
import type { InputIssue } from "tallystick-protocol/errors";
import { addressProblem } from "tallystick-protocol/net/publicAddress";
import { parseAuditActuation } from "tallystick-protocol/records/auditActuation";
import { parseAuditCanary } from "tallystick-protocol/records/auditCanary";
import { parseAuditHistory } from "tallystick-protocol/records/auditHistory";
import { parseAuditJudge } from "tallystick-protocol/records/auditJudge";
import { parseAuditMode } from "tallystick-protocol/records/auditMode";
import { type Auditor, parseAuditor } from "tallystick-protocol/records/auditor";
import { parseAuditVerdict } from "tallystick-protocol/records/auditVerdict";
import type { SignedRecord } from "tallystick-protocol/records/record";

/** The records that an operator of audits signs. It settles them in its own service. */
const OPERATORS_WORDS = {
  audit_judge: parseAuditJudge,
  audit_actuation: parseAuditActuation,
  audit_mode: parseAuditMode,
  audit_canary: parseAuditCanary,
  audit_history: parseAuditHistory,
};

/** The types of records of audits (SHP §8.3). */
export type AuditRecordType = keyof typeof OPERATORS_WORDS | "auditor" | "audit_verdict";

export function isAuditRecordType(type: string): type is AuditRecordType {
  return type === "auditor" || type === "audit_verdict" || Object.hasOwn(OPERATORS_WORDS, type);
}

/**
 * Checks the body of a record of audits. Returns further faults, and who has to sign the record: without `mustBe`
 * anybody may. The derivation decides whether an auditor was assigned, because only the derivation makes the draws.
 *
 * @param context `latest`: unix seconds that the signer's clock may have reached
 * @throws InvalidInputError naming every field with a wrong form
 */
export function auditRules(
  { type, body }: SignedRecord & { type: AuditRecordType },
  { operator, latest, devMode }: { operator: Address | undefined; latest: number; devMode: boolean },
): { issues: InputIssue[]; mustBe?: { signer: Address | undefined; who: string } } {
  if (type === "auditor") {
    const auditor = parseAuditor(body);
    return {
      issues: auditorIssues(auditor, latest, devMode),
      mustBe: { signer: auditor.agent_id, who: "the agent itself" },
    };
  }
  if (type === "audit_verdict") {
    parseAuditVerdict(body);
    return { issues: [] };
  }
  OPERATORS_WORDS[type](body);
  return { issues: [], mustBe: { signer: operator, who: "the operator of this service" } };
}

function auditorIssues(auditor: Auditor, latest: number, devMode: boolean): InputIssue[] {
  const issues: InputIssue[] = [];
  // A withdrawal is accepted with any address.
  const endpoint = devMode || !auditor.active ? undefined : addressProblem(auditor.endpoint);
  if (endpoint) issues.push({ field: "body.endpoint", message: endpoint });
  if (auditor.issued_at > latest)
    issues.push({ field: "body.issued_at", message: "is in the future; it is unix seconds" });
  return issues;
}
