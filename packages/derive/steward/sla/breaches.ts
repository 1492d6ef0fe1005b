import { breachId } from "tallystick-protocol/records/breachId";
import type { ApplyContext } from "../../applyContext.ts";
import { existingRow } from "../../existingRow.ts";
import { schedule } from "../../schedule.ts";
import type { Row } from "../../tables.ts";
import { dayOf } from "../days.ts";
import { linesOf, withLine, withoutLine } from "./lines.ts";
import { applyPenalty, liftPenalty } from "./penalties.ts";
import { type Figure, nanoFigure } from "./terms.ts";

/** Opens a breach of a guarantee, with the terms that it has now. */
export function openBreach(
  context: ApplyContext,
  guarantee: Row<"guarantee">,
  figure: Figure,
  days: { fromDay: number; toDay: number },
): Row<"breach"> {
  const { block, time } = context.at;
  const { agent, metric, target, threshold, penalty } = guarantee;
  const id = breachId({ agent, guarantee: guarantee.id.slice(agent.length + 1), detected: time });
  const breach: Row<"breach"> = {
    id,
    agent,
    guarantee: guarantee.id,
    ...{ metric, days: guarantee.days, target, threshold, penalty },
    value: nanoFigure(figure),
    ...days,
    status: "detected",
    detectedBlock: block,
    detectedTime: time,
    decidedBy: time + context.params.steward.disputeSeconds,
    dispute: null,
    ruling: null,
    excuse: null,
    confirmedTime: null,
    closedTime: null,
    goodDays: 0,
    checkedDay: dayOf(time),
    isReinstated: false,
    owed: 0n,
    paid: 0n,
    steps: 0,
  };
  context.store.insert("breach", breach);
  const { breaches } = existingRow(context.store, "sla", agent);
  context.store.update("sla", agent, { breaches: withLine(breaches, id) });
  noteStep(context, id, "detected");
  awaitDecision(context, breach);
  return breach;
}

/** Schedules the end of the time for a dispute or a ruling. One second is added: the last second is still in time. */
function awaitDecision(
  context: ApplyContext,
  { id, decidedBy }: Pick<Row<"breach">, "id" | "decidedBy">,
): void {
  schedule(context, decidedBy + 1, "breach", id);
}

/** Called when the time for a dispute, or for its ruling, is over. Confirms the breach if it is still open. */
export function breachDue(context: ApplyContext, id: string): void {
  const breach = breachRow(context, id);
  const isOpen = breach.status === "detected" || breach.status === "disputed";
  if (isOpen && context.at.time > breach.decidedBy) confirm(context, breach);
}

export function disputeSettled(context: ApplyContext, breach: Row<"breach">, record: string): void {
  const decidedBy = context.at.time + context.params.steward.reviewSeconds;
  context.store.update("breach", breach.id, { status: "disputed", dispute: record, decidedBy });
  noteStep(context, breach.id, "disputed", record);
  awaitDecision(context, { id: breach.id, decidedBy });
}

/** Applies an arbitrator's ruling. A late `overturned` lifts the penalty from now on. */
export function rulingSettled(
  context: ApplyContext,
  breach: Row<"breach">,
  { ruling, excuse = null, record }: { ruling: string; excuse?: string | null | undefined; record: string },
): void {
  noteStep(context, breach.id, ruling, record);
  if (ruling === "reinstated") {
    context.store.update("breach", breach.id, { isReinstated: true });
    return;
  }
  context.store.update("breach", breach.id, { ruling: record, excuse });
  if (ruling === "upheld") {
    confirm(context, breach);
    return;
  }
  context.store.update("breach", breach.id, {
    status: "overturned",
    closedTime: breach.closedTime ?? context.at.time,
  });
  release(context, breach, dayOf(context.at.time) + 1);
  liftPenalty(context, breach);
  const sla = existingRow(context.store, "sla", breach.agent);
  const breaches = withoutLine(sla.breaches, breach.id);
  context.store.update("sla", breach.agent, { breaches, lastConfirmed: lastConfirmedOf(context, breaches) });
}

/**
 * When the last of these breaches was confirmed. The list has all breaches that are not over, so it has all that were
 * confirmed in the last 30 days. Older breaches do not take a badge away.
 */
function lastConfirmedOf(context: ApplyContext, breaches: string): number | null {
  const times = linesOf(breaches).map((id) => breachRow(context, id).confirmedTime ?? 0);
  return Math.max(0, ...times) || null;
}

function confirm(context: ApplyContext, breach: Row<"breach">): void {
  const confirmedTime = context.at.time;
  context.store.update("breach", breach.id, { status: "confirmed", confirmedTime });
  context.store.update("sla", breach.agent, { lastConfirmed: confirmedTime });
  noteStep(context, breach.id, "confirmed");
  applyPenalty(context, breach);
}

/**
 * Closes a breach whose guarantee was at target for a day. The next breach of this guarantee uses only later
 * data.
 */
export function closeBreach(context: ApplyContext, breach: Row<"breach">, day: number): void {
  context.store.update("breach", breach.id, { closedTime: context.at.time });
  noteStep(context, breach.id, "closed");
  const { suspensions } = existingRow(context.store, "sla", breach.agent);
  const ends = linesOf(suspensions).map((line) => dayOf(Number(line.split(" ")[2])) + 1);
  release(context, breach, Math.max(day + 1, ...ends));
}

/** Ends a guarantee's open breach, if it is this one. Only data from `fromDay` on can make the next breach. */
function release(context: ApplyContext, breach: Row<"breach">, fromDay: number): void {
  const { openBreach } = existingRow(context.store, "guarantee", breach.guarantee);
  if (openBreach !== breach.id) return;
  context.store.update("guarantee", breach.guarantee, { openBreach: null, fromDay, closes: "" });
}

export function noteStep(
  context: ApplyContext,
  breach: string,
  what: string,
  record: string | null = null,
): void {
  const { steps, agent } = breachRow(context, breach);
  const { block, time } = context.at;
  context.store.insert("breachStep", {
    id: `${breach}/${steps}`,
    breach,
    agent,
    step: what,
    record,
    block,
    time,
  });
  context.store.update("breach", breach, { steps: steps + 1 });
}

export function breachRow(context: ApplyContext, id: string): Row<"breach"> {
  return existingRow(context.store, "breach", id);
}
