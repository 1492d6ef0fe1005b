import type { ApplyContext } from "../applyContext.ts";
import { schedule } from "../schedule.ts";
import type { Row } from "../tables.ts";
import { assignmentsOf } from "./assignments.ts";
import { auditorRow, findAuditor, removeAuditor } from "./auditors.ts";

/** How a verdict compares with its audit's result. */
type Judgement = "right" | "wrongFail" | "wrongPass";

const columns = { wrongFail: "wrongFails", wrongPass: "wrongPasses" } as const;

/** An audit with two or more verdicts is over: each of its auditors was right, or alone (SHP §8.3.2). */
export async function judgeAuditors(
  context: ApplyContext,
  audit: Row<"audit">,
  end: "passed" | "failed",
): Promise<void> {
  if (audit.verdicts.length < 2) return;
  for (const { audit: of, auditorType, auditor, verdict } of await assignmentsOf(context, audit.hire)) {
    if (of !== audit.id || auditorType !== "auditor") continue;
    if (verdict !== "pass" && verdict !== "fail") continue;
    const isRight = (verdict === "pass") === (end === "passed");
    const judgement = isRight ? "right" : verdict === "fail" ? "wrongFail" : "wrongPass";
    await judge(context, await auditorRow(context, audit.operator, auditor), judgement);
  }
}

/** A judgement leaves the window. It no longer counts if its auditor was removed since. */
export async function leaveAgreement(
  context: ApplyContext,
  id: string,
  [epoch, judgement]: [epoch: string, judgement: Judgement],
): Promise<void> {
  const [operator = "", agent = ""] = id.split("/");
  const auditor = await findAuditor(context, operator, agent);
  if (auditor !== null && auditor.epoch === Number(epoch)) await change(context, auditor, judgement, -1);
}

async function judge(context: ApplyContext, before: Row<"auditor">, judgement: Judgement): Promise<void> {
  // An auditor that was removed for its verdicts starts again with its next offer.
  if (before.barredUntil !== null) return;
  const auditor = await change(context, before, judgement, 1);
  const { id, epoch, judged, wrongFails, wrongPasses } = auditor;
  const due = Math.max(context.at.time + context.params.windowSeconds, context.state.time + 1);
  await schedule(context, due, "agreement", `${id} ${epoch} ${judgement}`);
  const { minAgreement, maxDisagreement, removedSeconds } = context.params.audit;
  const { numerator, denominator } = maxDisagreement;
  if (judged < minAgreement) return;
  if (BigInt(wrongFails + wrongPasses) * BigInt(denominator) <= BigInt(judged) * BigInt(numerator)) return;
  await removeAuditor(context, auditor, wrongFails >= wrongPasses ? "extortion" : "collusion");
  await context.store.update("auditor", id, {
    ...{ epoch: epoch + 1, judged: 0, wrongFails: 0, wrongPasses: 0 },
    barredUntil: context.at.time + removedSeconds,
  });
}

async function change(
  context: ApplyContext,
  auditor: Row<"auditor">,
  judgement: Judgement,
  by: 1 | -1,
): Promise<Row<"auditor">> {
  const changed = { ...auditor, judged: auditor.judged + by };
  if (judgement !== "right") changed[columns[judgement]] += by;
  const { judged, wrongFails, wrongPasses } = changed;
  await context.store.update("auditor", auditor.id, { judged, wrongFails, wrongPasses });
  return changed;
}
