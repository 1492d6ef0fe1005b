import type { Step } from "../step.ts";
import type { Row } from "../tables.ts";
import { awaitAuditor } from "./assignments.ts";
import { type AuditStatus, changeAudit } from "./auditRow.ts";
import { countAudit, uncountAudit } from "./effects.ts";
import { enqueue } from "./queues.ts";

/**
 * A round came to a word. One pass is enough, unless it is looked at again; a fail has to be confirmed by a second auditor; of one
 * each a third decides (SHP §8.3.1).
 */
export async function roundDecided(
  step: Step,
  before: Row<"audit">,
  verdict: "pass" | "fail",
): Promise<void> {
  const audit = await changeAudit(step, before, {
    verdicts: `${before.verdicts}${verdict === "pass" ? "p" : "f"}`,
  });
  const count = (letter: string) => audit.verdicts.split(letter).length - 1;
  if (count("f") >= 2) return end(step, audit, "failed");
  if (count("p") >= 2) return end(step, audit, "passed");
  if (audit.verdicts !== "p") {
    await awaitAuditor(step, audit, audit.round + 1);
    return;
  }
  const { recheckPpm: ppm } = step.params.audit;
  await changeAudit(step, audit, { status: "rechecking" });
  await enqueue(step, "recheck", { hire: audit.id, operator: audit.operator, ppm });
}

/** Nobody came to a word in a round, however many were asked. */
export function roundExhausted(step: Step, audit: Row<"audit">): Promise<void> {
  return end(step, audit, "inconclusive");
}

export function auditPassed(step: Step, audit: Row<"audit">): Promise<void> {
  return end(step, audit, "passed");
}

/** Its operator is none any more. */
export function auditAbandoned(step: Step, audit: Row<"audit">): Promise<void> {
  return end(step, audit, "abandoned");
}

/** The seller said nothing of what it did: failed by the rules, without an auditor. */
export function failUndisclosed(step: Step, audit: Row<"audit">): Promise<void> {
  return end(step, audit, "failed", "undisclosed");
}

/** The seller said two things of one hire: failed by the rules, drawn or not, whatever auditors said of either. */
export async function failEquivocal(step: Step, audit: Row<"audit">): Promise<void> {
  if (audit.status === "failed" || audit.status === "abandoned") return;
  const cause = audit.status === "eligible" ? "rules" : audit.cause;
  await end(step, await changeAudit(step, audit, { cause }), "failed", "equivocation");
}

async function end(
  step: Step,
  audit: Row<"audit">,
  status: AuditStatus,
  reason: string | null = null,
): Promise<void> {
  // Signed twice, a hire that had passed has not.
  const open = await uncountAudit(step, audit);
  const ended = await changeAudit(step, open, { status, reason, closedTime: step.at.time });
  if (status === "passed") await countAudit(step, ended, "passed");
}
