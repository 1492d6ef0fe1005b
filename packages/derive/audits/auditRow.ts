import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import type { Row } from "../tables.ts";
import { countFor } from "./operators.ts";

/**
 * The status of an audit. `eligible`: it may be drawn; `assigning`: a tick has to find an auditor; `assigned`: an
 * auditor was asked; `rechecking`: it passed, and a tick decides whether it is judged again. With the other statuses it
 * has ended. An audit that ended as `passed` or `inconclusive` still fails if its seller signed two different things.
 */
export type AuditStatus = "eligible" | "assigning" | "assigned" | "rechecking" | AuditEnd;

export type AuditEnd = "passed" | "failed" | "inconclusive" | "abandoned";

export function auditRow(context: ApplyContext, hire: string): Row<"audit"> {
  return existingRow(context.store, "audit", hire);
}

/** Changes an audit. A change of `status` also sets `unassignedSince` to null. */
export function changeAudit(
  context: ApplyContext,
  audit: Row<"audit">,
  { unassignedSince, ...rest }: Partial<Omit<Row<"audit">, "id">>,
): Row<"audit"> {
  const since = unassignedSince ?? (rest.status === undefined ? audit.unassignedSince : null);
  const changed = { ...audit, ...rest, unassignedSince: since };
  context.store.update("audit", audit.id, { ...rest, unassignedSince: since });
  const by = Number(since !== null) - Number(audit.unassignedSince !== null);
  if (by !== 0) countFor(context, audit.operator, "unassigned", by);
  return changed;
}

/**
 * Whether this node follows an operator's audits now. If an operator leaves the parameters, its drawn audits without a
 * result end as `abandoned`.
 */
export function isOperator({ params }: ApplyContext, operator: string): boolean {
  return Object.hasOwn(params.audit.operators, operator);
}

/** Whether this node follows any audits at all. */
export function hasAudits({ params }: ApplyContext): boolean {
  return Object.keys(params.audit.operators).length > 0;
}
