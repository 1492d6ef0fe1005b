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
  const counts = new Map<string, { drawn: number; contested: number }>();
  await drawQueues(step, hash, (kind, hire, isDrawn) => drawn(step, counts, { kind, hire, isDrawn }));
  for (const [operator, { drawn, contested }] of counts) {
    await countFor(step, operator, "drawn", drawn);
    if (contested > 0) await countFor(step, operator, "contested", contested);
  }
  await assignAuditors(step, hash, (audit) => auditAbandoned(step, audit));
}

async function drawn(
  step: Step,
  counts: Map<string, { drawn: number; contested: number }>,
  { kind, hire, isDrawn }: { kind: QueueKind; hire: string; isDrawn: boolean },
): Promise<void> {
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
  const count = counts.get(audit.operator) ?? { drawn: 0, contested: 0 };
  counts.set(audit.operator, count);
  count.drawn += 1;
  if (audit.cause === "contested") count.contested += 1;
  const { auditsDrawn } = await agentRow(step, audit.seller);
  await updateAgent(step, audit.seller, { auditsDrawn: auditsDrawn + 1 });
  const taken = { drawnBlock: block, drawnTime: time };
  if (audit.isDisclosed) await awaitAuditor(step, audit, 1, taken);
  else await failUndisclosed(step, await changeAudit(step, audit, taken));
}
