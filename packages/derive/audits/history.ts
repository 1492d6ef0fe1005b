import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";
import { type AuditEnd, auditRow, changeAudit } from "./auditRow.ts";
import { countFor } from "./operators.ts";

/**
 * The id of the audit that judges a hire again if the hire was challenged while its capability was in
 * bootstrap.
 */
export function historyOf(hire: string): string {
  return `${hire}/history`;
}

export function isHistory({ cause }: Pick<Row<"audit">, "cause">): boolean {
  return cause === "history";
}

/**
 * Ends such an audit. Its verdict changes only the counts of how often auditors of the mature capability agreed
 * with the operator's decision, and how often not (SHP §8.3.4.2).
 */
export function historyEnded(context: ApplyContext, { hire, operator }: Row<"audit">, end: AuditEnd): void {
  const first = changeAudit(context, auditRow(context, hire), { history: end });
  if (end !== "passed" && end !== "failed") return;
  const agrees = (end === "failed") === (first.decision === "rollback");
  countFor(context, operator, agrees ? "historyAgreed" : "historyDiffered");
}
