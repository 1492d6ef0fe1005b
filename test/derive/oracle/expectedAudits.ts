import { judgedOf } from "./auditEnds.ts";
import type { Audit, Audits } from "./auditFacts.ts";
import { expectedMoney } from "./auditMoney.ts";
import type { Facts } from "./facts.ts";

/** The audits of the oracle, in the form in which they are compared. */
export function expectedAudits(facts: Facts) {
  const { audits } = facts;
  const moneyOf = (operator: string, agent: string) =>
    audits.money.filter((it) => it.operator === operator && it.auditor === agent);
  return {
    audits: Object.fromEntries(
      audits.all.map((it) => [
        it.id,
        {
          ...{ operator: it.operator, capability: it.capability, seller: it.seller, buyer: it.buyer },
          ...{ receipt: it.receipt?.hash ?? null, isDisclosed: it.isDisclosed, ppm: it.ppm, cause: it.cause },
          ...{ status: it.status, reason: it.reason, round: it.round, attempt: it.attempt },
          ...{
            decision: it.decision,
            mode: it.mode,
            history: it.history,
            canary: it.canary,
            unassignedSince: it.nobodySince,
          },
          ...{ verdicts: it.words, eligibleBlock: it.block, drawnBlock: it.drawn, closedTime: it.closed },
          asked: it.asked.map(({ round, attempt, auditor, time, over, verdict, models, fee }) => {
            const all = models?.join("\n") ?? null;
            return { round, attempt, auditor, time, passedOver: over.join(), verdict, models: all, fee };
          }),
        },
      ]),
    ),
    auditors: Object.fromEntries(
      audits.offers.map((it) => [
        `${it.operator}/${it.agent}`,
        {
          ...{ isActive: it.isIn, unanswered: it.missed, removedFor: it.removedFor, barredUntil: it.barred },
          judged: judgedOf(facts, it).length,
          wrongFails: judgedOf(facts, it).filter(({ what }) => what === "wrongFail").length,
          wrongPasses: judgedOf(facts, it).filter(({ what }) => what === "wrongPass").length,
          accrued: moneyOf(it.operator, it.agent).reduce((sum, { earned }) => sum + earned, 0n),
          paid: moneyOf(it.operator, it.agent).reduce((sum, { paid }) => sum + paid, 0n),
        },
      ]),
    ),
    money: expectedMoney(facts),
    canaries: Object.fromEntries(
      audits.canaries.map(({ buyer, status, truth, hire }) => [buyer, { status, truth, hire }]),
    ),
    lists: Object.fromEntries(
      audits.lists.map((it) => [
        `${it.operator}/${it.commitment}`,
        { isRevealed: it.revealed, hires: it.hires, voids: it.voids },
      ]),
    ),
    errors: errorsOf(audits),
    modes: audits.modes.map(({ operator, capability, to, justification, block }) => {
      return { operator, capability, to, justification, block };
    }),
    operators: operatorsOf(audits),
  };
}

/** The counts of each operator, from all its audits. An operator whose counts are all 0 is left out. */
function operatorsOf({ all, asked }: Audits) {
  const names = [...new Set(all.map(({ operator }) => operator))];
  return Object.fromEntries(
    names.flatMap((operator) => {
      const own = all.filter((it) => it.operator === operator);
      const count = (is: (it: Audit) => boolean) => own.filter(is).length;
      const first = (is: (it: Audit) => boolean) => count((it) => it.cause !== "history" && is(it));
      const isAgreed = (it: Audit) => (it.history === "failed") === (it.decision === "rollback");
      const isJudged = (it: Audit) => it.history === "passed" || it.history === "failed";
      const toAsk = asked.filter((it) => it.audit.operator === operator);
      const figures = {
        drawn: first((it) => it.drawn !== null),
        contested: first((it) => it.drawn !== null && it.cause === "contested"),
        passed: first((it) => it.status === "passed"),
        failed: first((it) => it.status === "failed" && it.reason === null),
        inconclusive: first((it) => it.status === "inconclusive"),
        undisclosed: first((it) => it.reason === "undisclosed"),
        equivocal: first((it) => it.reason === "equivocation"),
        unassigned: count((it) => it.nobodySince !== null),
        unanswered: toAsk.filter(({ isMissed }) => isMissed).length,
        abandonedUnassigned: count((it) => it.abandonedWhile === "assigning"),
        abandonedAssigned: count((it) => it.abandonedWhile === "assigned"),
        abandonedRechecking: count((it) => it.abandonedWhile === "rechecking"),
        issued: toAsk.filter((it) => it.models !== null && it.verdict !== null).length,
        rolledBack: count((it) => it.isDecidedByHand && it.decision === "rollback"),
        dismissed: count((it) => it.decision === "dismiss"),
        historyAgreed: count((it) => isJudged(it) && isAgreed(it)),
        historyDiffered: count((it) => isJudged(it) && !isAgreed(it)),
      };
      return Object.values(figures).some((it) => it > 0) ? [[operator, figures] as const] : [];
    }),
  );
}

/** How often each auditor was right about work with a known result. */
function errorsOf({ measured }: Audits) {
  const all = Map.groupBy(measured, (it) => `${it.operator}/${it.auditor}/${it.capability}`);
  return Object.fromEntries(
    [...all].map(([id, words]) => {
      const count = (truth: string, verdicts: string[]) =>
        words.filter((it) => it.truth === truth && verdicts.includes(it.verdict)).length;
      const any = ["pass", "fail"];
      return [
        id,
        {
          ...{ good: count("good", any), goodPassed: count("good", ["pass"]) },
          ...{ bad: count("bad", any), badFailed: count("bad", ["fail"]) },
        },
      ];
    }),
  );
}
