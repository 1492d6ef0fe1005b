import { falsify, takeBack } from "./auditContests.ts";
import { type Audit, type Audits, leave, type Offer, offerOf } from "./auditFacts.ts";
import { modeOf } from "./auditModes.ts";
import { earn } from "./auditMoney.ts";
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
  const hadPassed = audit.status === "passed";
  audit.status = status;
  audit.reason = reason;
  audit.closed = time;
  audit.nobodySince = null;
  if (reason === null && audit.words.length > 1) judgeAll(facts, time, audit);
  if (audit.cause === "history") {
    for (const it of facts.audits.all) if (it.id === audit.hire) it.history = status;
    return;
  }
  if (hadPassed) takeBack(facts, audit);
  const isChosen = audit.cause === "contested";
  const isCounted = status === "passed" && !isChosen && audit.canary === null;
  audit.counts = isCounted ? { as: "passed", until: counted(facts, time) } : null;
  if (status === "passed") falsify(facts, time, audit);
  if (status !== "failed") return;
  const first = audit.asked.find((it) => it.verdict === "fail" && it.models === null);
  if (reason === null && first !== undefined)
    earn(facts, time, audit, first, BigInt(facts.params.audit.bountyMultiplier - 1));
  if (isChosen) return;
  audit.mode = modeOf(facts, audit.operator, audit.capability);
  if (audit.mode === "mature") undo(facts, time, audit);
}

/** Rolls back the hire of an audit: the work was bad, and this is final. */
export function undo(facts: Facts, time: number, audit: Audit): void {
  audit.decision = "rollback";
  if (audit.canary !== null) return;
  const { seller, version } = audit;
  facts.audits.elevated.push({ seller, version, until: time + facts.params.audit.elevatedSeconds });
  audit.counts = { as: "rolledBack", until: counted(facts, time) };
  const hire = facts.hires.find((it) => it.id === audit.hire);
  if (hire !== undefined) rollBack(hire);
}

/** If two or more auditors gave a verdict, each verdict is compared with the end of the audit. */
function judgeAll(facts: Facts, time: number, audit: Audit): void {
  if (audit.status !== "passed" && audit.status !== "failed") return;
  const right = audit.status === "passed" ? "pass" : "fail";
  for (const { auditor, verdict, models } of audit.asked) {
    if (models !== null || (verdict !== "pass" && verdict !== "fail")) continue;
    const offer = offerOf(facts, audit.operator, auditor);
    if (offer.barred !== null) continue;
    const what = verdict === right ? "right" : verdict === "fail" ? "wrongFail" : "wrongPass";
    const until = counted(facts, time);
    facts.audits.judged.push({ offer, epoch: offer.epoch, what, until });
    const all = judgedOf(facts, offer);
    const fails = all.filter((it) => it.what === "wrongFail").length;
    const passes = all.filter((it) => it.what === "wrongPass").length;
    const { minAgreement, maxDisagreement, removedSeconds } = facts.params.audit;
    if (all.length < minAgreement) continue;
    if ((fails + passes) * maxDisagreement.denominator <= all.length * maxDisagreement.numerator) continue;
    for (const capability of offer.capabilities) leave(facts, offer.operator, capability, offer.agent);
    offer.isIn = false;
    offer.removedFor = fails >= passes ? "extortion" : "collusion";
    offer.barred = time + removedSeconds;
    offer.epoch += 1;
  }
}

/** The auditor's verdicts that count now, and whether they were right. */
export function judgedOf({ audits, asOf }: Facts, offer: Offer): Audits["judged"] {
  const { operator, agent, epoch } = offer;
  return audits.judged.filter(
    (it) =>
      it.offer.operator === operator && it.offer.agent === agent && it.epoch === epoch && asOf < it.until,
  );
}

const counted = (facts: Facts, time: number) => Math.max(time + facts.params.windowSeconds, facts.asOf + 1);
