import { queue } from "./auditEligible.ts";
import type { Audit } from "./auditFacts.ts";
import type { Escrow, Facts } from "./facts.ts";
import { sharedSize } from "./groups.ts";

/**
 * Whether this seller recently had any hire rolled back, or an agent in its present cluster had one of this version
 * rolled back.
 */
export function isElevated(facts: Facts, now: number, seller: string, version: string): boolean {
  return facts.audits.elevated.some(
    (it) =>
      now < it.until &&
      (it.seller === seller || (it.version === version && sharedSize(facts, it.seller, seller) > 1)),
  );
}

export const isContested = (escrow: Escrow) => escrow.takenBack && escrow.delivered;

/**
 * Whether a refund is drawn for certain: it is large enough, and no recent refund of the same buyer and seller was
 * drawn for certain.
 */
export function isFirst(
  { audits, params }: Facts,
  now: number,
  { buyer, seller, amount }: { buyer: string; seller: string; amount: bigint },
): boolean {
  const { contestedMinAtomic, contestedSeconds } = params.audit;
  const isRecent = audits.contested.some(
    (it) => it.buyer === buyer && it.seller === seller && it.time > now - contestedSeconds,
  );
  if (amount < BigInt(contestedMinAtomic) || isRecent) return false;
  audits.contested.push({ buyer, seller, time: now });
  return true;
}

/** Runs when an escrow was settled. The buyer may now have both the work and the money. */
export function contest(facts: Facts, event: { block: number; time: number }, escrow: Escrow): void {
  const audit = facts.audits.all.find((it) => it.id === escrow.id);
  if (audit === undefined || !isContested(escrow)) return;
  if (audit.status === "passed") falsify(facts, event.time, audit);
  if (audit.status !== "eligible") return;
  audit.cause = "contested";
  if (!isFirst(facts, event.time, escrow)) return;
  audit.ppm = 1_000_000;
  queue(facts, event.block, "sample", audit.ppm, audit);
}

/** The work was good, so the hire becomes neutral and the refund counts as false. */
export function falsify(facts: Facts, now: number, audit: Audit): void {
  const escrow = facts.escrows.get(audit.hire);
  if (escrow === undefined || !isContested(escrow)) return;
  if (escrow.hire !== null) escrow.hire.outcome = "neutral";
  if (escrow.nothingCame || audit.canary !== null) return;
  const until = Math.max(now + facts.params.windowSeconds, facts.asOf + 1);
  facts.audits.falseRefunds.push({ audit, until, isOver: false });
}

/** Undoes `falsify`, because the audit's result is not valid any more. */
export function takeBack(facts: Facts, audit: Audit): void {
  const escrow = facts.escrows.get(audit.hire);
  if (escrow === undefined || !isContested(escrow)) return;
  for (const it of facts.audits.falseRefunds) if (it.audit === audit) it.isOver = true;
  if (escrow.hire !== null) escrow.hire.outcome = "failure";
}

/** The number of a buyer's false refunds in the window. */
export function falseRefundsOf({ audits, asOf }: Facts, buyer: string): number {
  return audits.falseRefunds.filter((it) => it.audit.buyer === buyer && !it.isOver && asOf < it.until).length;
}
