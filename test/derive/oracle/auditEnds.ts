import type { Audit } from "./auditFacts.ts";
import { modeOf } from "./auditModes.ts";
import type { Facts } from "./facts.ts";
import { rollBack } from "./hires.ts";

export function close(
  facts: Facts,
  time: number,
  audit: Audit,
  status: string,
  reason: string | null = null,
): void {
  if (status === "abandoned") audit.abandonedWhile = audit.status;
  audit.status = status;
  audit.reason = reason;
  audit.closed = time;
  audit.nobodySince = null;
  if (audit.cause === "history") {
    for (const it of facts.audits.all) if (it.id === audit.hire) it.history = status;
    return;
  }
  audit.counts = status === "passed" ? { as: "passed", until: counted(facts, time) } : null;
  if (status !== "failed") return;
  audit.mode = modeOf(facts, audit.operator, audit.capability);
  if (audit.mode === "mature") undo(facts, time, audit);
}

/** The hire was bad, and that is final. */
export function undo(facts: Facts, time: number, audit: Audit): void {
  audit.decision = "rollback";
  audit.counts = { as: "rolledBack", until: counted(facts, time) };
  const hire = facts.hires.find((it) => it.id === audit.hire);
  if (hire !== undefined) rollBack(hire);
}

const counted = (facts: Facts, time: number) => Math.max(time + facts.params.windowSeconds, facts.asOf + 1);
