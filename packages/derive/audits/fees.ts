import type { AuditParams } from "tallystick-protocol/records/auditParams";
import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";
import { assignmentId, assignmentsOf } from "./assignments.ts";
import { auditorRow, findAuditor } from "./auditors.ts";
import { operatorRow } from "./operators.ts";

/** What is accrued and paid is shown for each so many seconds, from 1970 on. */
export const PERIOD_SECONDS = 2_592_000;

/** What judging a hire of an amount earns: the fee of its band (SHP §8.3.2). Atomic units. */
export function feeOf({ fees }: AuditParams, amount: bigint): bigint {
  return BigInt(fees.findLast(({ fromAtomic }) => BigInt(fromAtomic) <= amount)?.feeAtomic ?? "0");
}

/**
 * An auditor gave its word, which earns its fee at once when it says something. One that says nothing earns it when the next word of
 * the round says nothing either: who cannot judge what others can is paid nothing.
 */
export async function verdictEarned(
  context: ApplyContext,
  audit: Row<"audit">,
  assignment: Row<"auditAssignment">,
  verdict: string,
): Promise<void> {
  if (verdict !== "inconclusive") return accrue(context, audit, assignment, 1n);
  const { hire, round } = assignment;
  for (let attempt = assignment.attempt - 1; attempt > 0; attempt--) {
    const before = await context.store.get("auditAssignment", assignmentId(hire, round, attempt));
    if (before === null || before.verdict === null) continue;
    if (before.verdict === "inconclusive") await accrue(context, audit, before, 1n);
    return;
  }
}

/** Two auditors found the hire bad: the first of them that was drawn earns its fee several times over. */
export async function failConfirmed(context: ApplyContext, audit: Row<"audit">): Promise<void> {
  const all = await assignmentsOf(context, audit.hire);
  const first = all.find(({ verdict, auditorType }) => verdict === "fail" && auditorType === "auditor");
  if (first !== undefined)
    await accrue(context, audit, first, BigInt(context.params.audit.bountyMultiplier) - 1n);
}

/** A transfer from the pool of an operator to an auditor of its own pays what it owes. Of operators with one pool the first is meant. */
export async function poolPaid(
  context: ApplyContext,
  from: string,
  to: string,
  value: bigint,
): Promise<void> {
  const operators = Object.entries(context.params.audit.operators).filter(([, { pool }]) => pool === from);
  for (const operator of operators.map(([address]) => address).sort()) {
    const auditor = await findAuditor(context, operator, to);
    if (auditor === null || auditor.assigned === 0) continue;
    return changeAccount(context, auditor, { accrued: 0n, paid: value });
  }
}

/** Whether a wallet is the pool of an operator: every transfer asks. */
export function isPool({ params }: ApplyContext, wallet: string): boolean {
  for (const operator in params.audit.operators)
    if (params.audit.operators[operator as keyof AuditParams["operators"]]?.pool === wallet) return true;
  return false;
}

async function accrue(
  context: ApplyContext,
  { amount }: Row<"audit">,
  { id, operator, auditor, auditorType, fee }: Row<"auditAssignment">,
  times: bigint,
): Promise<void> {
  const accrued = feeOf(context.params.audit, amount) * times;
  // The operator's own words cost its pool nothing.
  if (auditorType !== "auditor" || accrued === 0n) return;
  await context.store.update("auditAssignment", id, { fee: fee + accrued });
  await changeAccount(context, await auditorRow(context, operator, auditor), { accrued, paid: 0n });
}

async function changeAccount(
  context: ApplyContext,
  { id, operator, accrued, paid }: Row<"auditor">,
  by: { accrued: bigint; paid: bigint },
): Promise<void> {
  const after = { accrued: accrued + by.accrued, paid: paid + by.paid };
  await context.store.update("auditor", id, after);
  const total = await operatorRow(context, operator);
  // Who was paid too much pays for nobody else.
  const owed = total.owed + owedOf(after) - owedOf({ accrued, paid });
  await context.store.update("auditOperator", operator, {
    accrued: total.accrued + by.accrued,
    paid: total.paid + by.paid,
    owed,
  });
  const n = Math.floor(context.at.time / PERIOD_SECONDS);
  const period = await context.store.get("auditPeriod", `${operator}/${n}`);
  const row = {
    id: `${operator}/${n}`,
    operator,
    from: n * PERIOD_SECONDS,
    accrued: (period?.accrued ?? 0n) + by.accrued,
    paid: (period?.paid ?? 0n) + by.paid,
    owed,
  };
  if (period === null) await context.store.insert("auditPeriod", row);
  else await context.store.update("auditPeriod", row.id, row);
}

function owedOf({ accrued, paid }: { accrued: bigint; paid: bigint }): bigint {
  return accrued > paid ? accrued - paid : 0n;
}
