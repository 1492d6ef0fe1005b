import { agentRow, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { assignAuditors, awaitAuditor } from "./assignments.ts";
import { auditRow, changeAudit, isOperator } from "./auditRow.ts";
import { settleModes } from "./modes.ts";
import { countFor } from "./operators.ts";
import { auditAbandoned, auditPassed, failUndisclosed } from "./outcomes.ts";
import { drawQueues, type QueueKind } from "./queues.ts";

/**
 * What a tick does for audits: draws hires, and auditors for the audits that wait for one, by the hash of its block (SHP
 * §8.3.1).
 */
export async function tickAudits(context: ApplyContext, hash: string | undefined): Promise<void> {
  await settleModes(context);
  const counts = new Map<string, { drawn: number; contested: number }>();
  await drawQueues(context, hash, (kind, hire, isDrawn) => drawn(context, counts, { kind, hire, isDrawn }));
  for (const [operator, { drawn, contested }] of counts) {
    await countFor(context, operator, "drawn", drawn);
    if (contested > 0) await countFor(context, operator, "contested", contested);
  }
  await assignAuditors(context, hash, (audit) => auditAbandoned(context, audit));
}

async function drawn(
  context: ApplyContext,
  counts: Map<string, { drawn: number; contested: number }>,
  { kind, hire, isDrawn }: { kind: QueueKind; hire: string; isDrawn: boolean },
): Promise<void> {
  const audit = await auditRow(context, hire);
  if (kind === "recheck") {
    if (audit.status !== "rechecking") return;
    if (!isOperator(context, audit.operator)) return auditAbandoned(context, audit);
    if (!isDrawn) return auditPassed(context, audit);
    await awaitAuditor(context, audit, audit.round + 1);
    return;
  }
  if (audit.status !== "eligible" || audit.canary !== null || !isOperator(context, audit.operator)) return;
  const { block, time } = context.at;
  const count = counts.get(audit.operator) ?? { drawn: 0, contested: 0 };
  counts.set(audit.operator, count);
  count.drawn += 1;
  if (audit.cause === "contested") count.contested += 1;
  const { auditsDrawn } = await agentRow(context, audit.seller);
  await updateAgent(context, audit.seller, { auditsDrawn: auditsDrawn + 1 });
  const taken = { drawnBlock: block, drawnTime: time };
  if (audit.isDisclosed) await awaitAuditor(context, audit, 1, taken);
  else await failUndisclosed(context, await changeAudit(context, audit, taken));
}
