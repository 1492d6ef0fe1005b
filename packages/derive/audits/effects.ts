import { schedule } from "../agenda.ts";
import { agentRow, updateAgent } from "../agentRow.ts";
import { amendHire } from "../hires.ts";
import type { Outcome } from "../outcome.ts";
import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { changeAudit } from "./auditRow.ts";

/** What a confirmed fail makes of a hire. It outranks whatever else is known; weight, price and money stay as they are. */
const ROLLED_BACK = {
  outcome: "failure",
  dispute: true,
  disputeSource: "audit",
  evidence: "audit",
} as const;

/** Which of a seller's audits is meant. */
type Counted = "passed" | "rolledBack";

const columns = { passed: "auditsPassed", rolledBack: "auditsRolledBack" } as const;

/** Rolls a hire back: its seller's rates and tier follow. One that is not counted yet will be counted so. */
export async function rollBack(step: Step, before: Row<"audit">): Promise<void> {
  const audit = await countAudit(step, before, "rolledBack");
  if ((await step.store.get("hire", audit.hire)) !== null) await amendHire(step, audit.hire, ROLLED_BACK);
}

/** What an escrow that is counted now came to: as it was settled, unless an audit decided before. */
export async function auditedOutcome(step: Step, id: string, settled: Outcome): Promise<Outcome> {
  const audit = await step.store.get("audit", id);
  return audit?.decision === "rollback" ? { ...settled, ...ROLLED_BACK } : settled;
}

/** Counts an audit in its seller's `audit_pass_rate` for the length of the window. */
export async function countAudit(step: Step, before: Row<"audit">, counted: Counted): Promise<Row<"audit">> {
  const audit = await changeAudit(step, before, { counted });
  await change(step, audit.seller, counted, 1);
  const { time } = step.at;
  await schedule(
    step,
    Math.max(time + step.params.windowSeconds, step.state.time + 1),
    "audit",
    `${audit.id} ${counted}`,
  );
  return audit;
}

/** Takes an audit out of the rate: what it found is no more, or it is as old as the window. */
export async function uncountAudit(step: Step, audit: Row<"audit">): Promise<Row<"audit">> {
  if (audit.counted === null) return audit;
  await change(step, audit.seller, audit.counted as Counted, -1);
  return changeAudit(step, audit, { counted: null });
}

/** An audit is as old as the window. */
export async function leaveAudits(step: Step, hire: string, counted: string): Promise<void> {
  const audit = await step.store.get("audit", hire);
  if (audit !== null && audit.counted === counted) await uncountAudit(step, audit);
}

async function change(step: Step, seller: string, counted: Counted, by: 1 | -1): Promise<void> {
  const column = columns[counted];
  await updateAgent(step, seller, { [column]: (await agentRow(step, seller))[column] + by });
}
