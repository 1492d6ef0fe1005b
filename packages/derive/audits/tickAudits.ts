import { agentRow, updateAgent } from "../agentRow.ts";
import type { Step } from "../step.ts";
import { assignAuditors, awaitAuditor } from "./assignments.ts";
import { auditRow, changeAudit, isOperator } from "./auditRow.ts";
import { settleModes } from "./modes.ts";
import { countFor } from "./operators.ts";
import { auditAbandoned, auditPassed, failUndisclosed } from "./outcomes.ts";
import { drawQueues, type QueueKind } from "./queues.ts";

/** What a tick does for audits: draws hires, and auditors for those that wait for one, by the hash of its block (SHP §8.3.1). */
export async function tickAudits(step: Step, hash: string | undefined): Promise<void> {
  await settleModes(step);
  await drawQueues(step, hash, (kind, hire, isDrawn) => drawn(step, kind, hire, isDrawn));
  await assignAuditors(step, hash, (audit) => auditAbandoned(step, audit));
}

async function drawn(step: Step, kind: QueueKind, hire: string, isDrawn: boolean): Promise<void> {
  const audit = await auditRow(step, hire);
  if (kind === "recheck") {
    if (audit.status !== "rechecking") return;
    if (!isOperator(step, audit.operator)) return auditAbandoned(step, audit);
    if (!isDrawn) return auditPassed(step, audit);
    await awaitAuditor(step, audit, audit.round + 1);
    return;
  }
  if (audit.status !== "eligible" || audit.canary !== null || !isOperator(step, audit.operator)) return;
  const { block, time } = step.at;
  await countFor(step, audit.operator, "drawn");
  if (audit.cause === "contested") await countFor(step, audit.operator, "contested");
  const { auditsDrawn } = await agentRow(step, audit.seller);
  await updateAgent(step, audit.seller, { auditsDrawn: auditsDrawn + 1 });
  const taken = await changeAudit(step, audit, { drawnBlock: block, drawnTime: time });
  if (audit.isDisclosed) await awaitAuditor(step, taken, 1);
  else await failUndisclosed(step, taken);
}
