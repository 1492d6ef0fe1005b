import type { AuditParams } from "tallystick-protocol/records/auditParams";
import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";
import { assignmentId, assignmentRow, assignmentsOf } from "./assignments.ts";
import { auditorRow, findAuditor } from "./auditors.ts";
import { operatorRow } from "./operators.ts";

/** Accrued and paid amounts are shown for periods of this many seconds, counted from 1970. */
export const PERIOD_SECONDS = 2_592_000;

/** The fee for a verdict on a hire of this amount, by its band (SHP §8.3.2). Atomic units. */
export function feeOf({ fees }: AuditParams, amount: bigint): bigint {
  return BigInt(fees.findLast(({ fromAtomic }) => BigInt(fromAtomic) <= amount)?.feeAtomic ?? "0");
}

/**
 * Credits an auditor's fee for its verdict. A pass or a fail earns the fee at once. "Cannot judge" earns it
 * only when the next verdict of the round says the same. So an auditor gets nothing if another one could
 * judge the work.
 */
export function verdictEarned(
  context: ApplyContext,
  audit: Row<"audit">,
  assignment: Row<"auditAssignment">,
  verdict: string,
): void {
  if (verdict !== "inconclusive") {
    accrue(context, audit, assignment, 1n);
    return;
  }
  const { hire, round } = assignment;
  for (let attempt = assignment.attempt - 1; attempt > 0; attempt--) {
    const before = assignmentRow(context, assignmentId(hire, round, attempt));
    if (before.verdict === null) continue;
    // A pass or a fail would have ended the round.
    accrue(context, audit, before, 1n);
    return;
  }
}

/**
 * Called when two auditors found the hire bad. The first drawn auditor among them earns `bountyMultiplier` times its
 * fee in all.
 */
export function failConfirmed(context: ApplyContext, audit: Row<"audit">): void {
  const all = assignmentsOf(context, audit.hire);
  const first = all.find(({ verdict, auditorType }) => verdict === "fail" && auditorType === "auditor");
  if (first !== undefined) accrue(context, audit, first, BigInt(context.params.audit.bountyMultiplier) - 1n);
}

/**
 * Handles a transfer from an operator's pool to one of its auditors. It pays what the operator owes that auditor. If
 * several operators share a pool, the first counts.
 */
export function poolPaid(context: ApplyContext, from: string, to: string, value: bigint): void {
  const operators = Object.entries(context.params.audit.operators).filter(([, { pool }]) => pool === from);
  for (const operator of operators.map(([address]) => address).sort()) {
    const auditor = findAuditor(context, operator, to);
    if (auditor === null || auditor.assigned === 0) continue;
    changeAccount(context, auditor, { accrued: 0n, paid: value });
    return;
  }
}

/** Whether a wallet is the pool of an operator. Every transfer asks this. */
export function isPool({ params }: ApplyContext, wallet: string): boolean {
  for (const operator in params.audit.operators)
    if (params.audit.operators[operator as keyof AuditParams["operators"]]?.pool === wallet) return true;
  return false;
}

function accrue(
  context: ApplyContext,
  { amount }: Row<"audit">,
  { id, operator, auditor, auditorType, fee }: Row<"auditAssignment">,
  times: bigint,
): void {
  const accrued = feeOf(context.params.audit, amount) * times;
  // The operator earns nothing for its own verdicts.
  if (auditorType !== "auditor" || accrued === 0n) return;
  context.store.update("auditAssignment", id, { fee: fee + accrued });
  changeAccount(context, auditorRow(context, operator, auditor), { accrued, paid: 0n });
}

function changeAccount(
  context: ApplyContext,
  { id: auditor, operator, accrued, paid }: Row<"auditor">,
  by: { accrued: bigint; paid: bigint },
): void {
  const after = { accrued: accrued + by.accrued, paid: paid + by.paid };
  context.store.update("auditor", auditor, after);
  const total = operatorRow(context, operator);
  // If the pool pays an auditor more than the auditor is owed, the rest does not reduce what others are owed.
  const owed = total.owed + owedOf(after) - owedOf({ accrued, paid });
  context.store.update("auditOperator", operator, {
    accrued: total.accrued + by.accrued,
    paid: total.paid + by.paid,
    owed,
  });
  const n = Math.floor(context.at.time / PERIOD_SECONDS);
  const id = `${operator}/${n}`;
  const period = context.store.get("auditPeriod", id);
  context.store.put("auditPeriod", {
    id,
    operator,
    from: n * PERIOD_SECONDS,
    accrued: (period?.accrued ?? 0n) + by.accrued,
    paid: (period?.paid ?? 0n) + by.paid,
    owed,
  });
}

function owedOf({ accrued, paid }: { accrued: bigint; paid: bigint }): bigint {
  return accrued > paid ? accrued - paid : 0n;
}
