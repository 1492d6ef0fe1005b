import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";
import { type AuditEnd, auditRow, changeAudit } from "./auditRow.ts";
import { countFor } from "./operators.ts";

/** The id of the audit that judges a hire again. Such a hire was challenged while its capability was in bootstrap. */
export function historyOf(hire: string): string {
  return `${hire}/history`;
}

export function isHistory({ cause }: Pick<Row<"audit">, "cause">): boolean {
  return cause === "history";
}

/**
 * Ends the second audit of a hire. The verdict changes only two counts of the operator (SHP §8.3.4.2). They count how
 * often auditors of the mature capability agreed with its decision, and how often they did not.
 */
export function historyEnded(context: ApplyContext, { hire, operator }: Row<"audit">, end: AuditEnd): void {
  const first = changeAudit(context, auditRow(context, hire), { history: end });
  if (end !== "passed" && end !== "failed") return;
  const agrees = (end === "failed") === (first.decision === "rollback");
  countFor(context, operator, agrees ? "historyAgreed" : "historyDiffered");
}
