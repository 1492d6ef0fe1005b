import type { ApplyContext } from "../applyContext.ts";
import { existingRow } from "../existingRow.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";
import { assignmentsOf } from "./assignments.ts";
import { auditorRow, removeAuditor } from "./auditors.ts";

/** How a verdict compares with its audit's result. */
type Judgement = "right" | "wrongFail" | "wrongPass";

const columns = { wrongFail: "wrongFails", wrongPass: "wrongPasses" } as const;

/**
 * Called when an audit is over. If the audit has two or more verdicts, notes for each of its auditors whether the
 * auditor's verdict agrees with the result (SHP §8.3.2). Removes an auditor that was overruled too often.
 */
export function judgeAuditors(context: ApplyContext, audit: Row<"audit">, end: "passed" | "failed"): void {
  if (audit.verdicts.length < 2) return;
  for (const { audit: of, auditorType, auditor, verdict } of assignmentsOf(context, audit.hire)) {
    if (of !== audit.id || auditorType !== "auditor") continue;
    if (verdict !== "pass" && verdict !== "fail") continue;
    const isRight = (verdict === "pass") === (end === "passed");
    const judgement = isRight ? "right" : verdict === "fail" ? "wrongFail" : "wrongPass";
    judge(context, auditorRow(context, audit.operator, auditor), judgement);
  }
}

/**
 * Called when a judgement leaves the window. If its auditor was removed for its verdicts after the judgement, the
 * counts were set to zero then, and nothing changes.
 */
export function leaveAgreement(
  context: ApplyContext,
  id: string,
  [epoch, judgement]: [epoch: string, judgement: Judgement],
): void {
  const auditor = existingRow(context.store, "auditor", id);
  if (auditor.epoch === Number(epoch)) change(context, auditor, judgement, -1);
}

function judge(context: ApplyContext, before: Row<"auditor">, judgement: Judgement): void {
  // An auditor that was removed for its verdicts is judged again only after its next offer.
  if (before.barredUntil !== null) return;
  const auditor = change(context, before, judgement, 1);
  const { id, epoch, judged, wrongFails, wrongPasses } = auditor;
  schedule(
    context,
    context.at.time + context.params.windowSeconds,
    "agreement",
    `${id} ${epoch} ${judgement}`,
  );
  const { minAgreement, maxDisagreement, removedSeconds } = context.params.audit;
  const { numerator, denominator } = maxDisagreement;
  if (judged < minAgreement) return;
  if (BigInt(wrongFails + wrongPasses) * BigInt(denominator) <= BigInt(judged) * BigInt(numerator)) return;
  removeAuditor(context, auditor, wrongFails >= wrongPasses ? "extortion" : "collusion");
  context.store.update("auditor", id, {
    ...{ epoch: epoch + 1, judged: 0, wrongFails: 0, wrongPasses: 0 },
    barredUntil: context.at.time + removedSeconds,
  });
}

function change(
  context: ApplyContext,
  auditor: Row<"auditor">,
  judgement: Judgement,
  by: 1 | -1,
): Row<"auditor"> {
  const changed = { ...auditor, judged: auditor.judged + by };
  if (judgement !== "right") changed[columns[judgement]] += by;
  const { judged, wrongFails, wrongPasses } = changed;
  context.store.update("auditor", auditor.id, { judged, wrongFails, wrongPasses });
  return changed;
}
