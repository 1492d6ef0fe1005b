import { agentRow, updateAgent } from "../agentRow.ts";
import type { ApplyContext } from "../applyContext.ts";
import { assignAuditors, awaitAuditor } from "./assignments.ts";
import { auditRow, changeAudit, isOperator } from "./auditRow.ts";
import { settleModes } from "./modes.ts";
import { countFor } from "./operators.ts";
import { auditAbandoned, auditPassed, failUndisclosed, roundExhausted } from "./outcomes.ts";
import { drawQueues, type QueueKind } from "./queues.ts";

/**
 * What a tick does for audits: draws hires, and auditors for the audits that wait for one, by the hash of its block
 * (SHP §8.3.1).
 */
export function tickAudits(context: ApplyContext, hash: string | undefined): void {
  settleModes(context);
  const counts = new Map<string, { drawn: number; contested: number }>();
  drawQueues(context, hash, (kind, hire, isDrawn) => drawn(context, counts, { kind, hire, isDrawn }));
  for (const [operator, { drawn, contested }] of counts) {
    countFor(context, operator, "drawn", drawn);
    if (contested > 0) countFor(context, operator, "contested", contested);
  }
  assignAuditors(context, hash, {
    abandon: (audit) => auditAbandoned(context, audit),
    exhaust: (audit) => roundExhausted(context, audit),
  });
}

function drawn(
  context: ApplyContext,
  counts: Map<string, { drawn: number; contested: number }>,
  { kind, hire, isDrawn }: { kind: QueueKind; hire: string; isDrawn: boolean },
): void {
  const audit = auditRow(context, hire);
  if (kind === "recheck") {
    if (audit.status !== "rechecking") return;
    if (!isOperator(context, audit.operator)) {
      auditAbandoned(context, audit);
      return;
    }
    if (!isDrawn) {
      auditPassed(context, audit);
      return;
    }
    awaitAuditor(context, audit, audit.round + 1);
    return;
  }
  if (audit.status !== "eligible" || audit.canary !== null || !isOperator(context, audit.operator)) return;
  const { block, time } = context.at;
  const count = counts.get(audit.operator) ?? { drawn: 0, contested: 0 };
  counts.set(audit.operator, count);
  count.drawn += 1;
  if (audit.cause === "contested") count.contested += 1;
  const { auditsDrawn } = agentRow(context, audit.seller);
  updateAgent(context, audit.seller, { auditsDrawn: auditsDrawn + 1 });
  const taken = { drawnBlock: block, drawnTime: time };
  if (audit.isDisclosed) awaitAuditor(context, audit, 1, taken);
  else failUndisclosed(context, changeAudit(context, audit, taken));
}
