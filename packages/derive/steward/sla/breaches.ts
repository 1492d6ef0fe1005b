import { breachId } from "tallystick-protocol/records/breachId";
import type { ApplyContext } from "../../applyContext.ts";
import { DEEP } from "../../families/familyOf.ts";
import { knownFamily } from "../../families/kinship.ts";
import { itemsOf } from "../../lists.ts";
import { schedule } from "../../schedule.ts";
import type { Row } from "../../tables.ts";
import { dayOf } from "../days.ts";
import { withLine, withoutLine } from "./lines.ts";
import { applyPenalty, liftPenalty } from "./penalties.ts";
import { isFailure, slaHiresOf } from "./slaHires.ts";
import { type Figure, isBeyond, isLatency, nanoFigure } from "./terms.ts";

/** A breach needs failures from at least so many families of buyers. */
const LEAST_FAMILIES = 3;

/** Opens a breach of a guarantee, with the terms that it has now. */
export async function openBreach(
  context: ApplyContext,
  guarantee: Row<"guarantee">,
  figure: Figure,
  days: { fromDay: number; toDay: number },
): Promise<Row<"breach">> {
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
  await context.store.insert("breach", breach);
  const sla = await context.store.get("sla", agent);
  await context.store.update("sla", agent, { breaches: withLine(sla?.breaches ?? "", id) });
  await noteStep(context, id, "detected");
  await awaitDecision(context, breach);
  return breach;
}

/** One second more, because the last second still belongs to the period. */
function awaitDecision(context: ApplyContext, { id, decidedBy }: Row<"breach">): Promise<void> {
  return schedule(context, Math.max(decidedBy, context.state.time) + 1, "breach", id);
}

/** The time for a dispute, or for its ruling, is over, so the breach is confirmed. */
export async function breachDue(context: ApplyContext, id: string): Promise<void> {
  const breach = await breachRow(context, id);
  const isOpen = breach.status === "detected" || breach.status === "disputed";
  if (isOpen && context.at.time > breach.decidedBy) await confirm(context, breach);
}

export async function disputeSettled(
  context: ApplyContext,
  breach: Row<"breach">,
  record: string,
): Promise<void> {
  const decidedBy = context.at.time + context.params.steward.reviewSeconds;
  const disputed = { ...breach, status: "disputed", dispute: record, decidedBy };
  await context.store.update("breach", breach.id, { status: "disputed", dispute: record, decidedBy });
  await noteStep(context, breach.id, "disputed", record);
  await awaitDecision(context, disputed);
}

/** Applies an arbitrator's ruling. A late `overturned` lifts the penalty from now on. */
export async function rulingSettled(
  context: ApplyContext,
  breach: Row<"breach">,
  { ruling, excuse = null, record }: { ruling: string; excuse?: string | null | undefined; record: string },
): Promise<void> {
  await noteStep(context, breach.id, ruling, record);
  if (ruling === "reinstated") {
    await context.store.update("breach", breach.id, { isReinstated: true });
    return;
  }
  await context.store.update("breach", breach.id, { ruling: record, excuse });
  if (ruling === "upheld") return confirm(context, breach);
  await context.store.update("breach", breach.id, {
    status: "overturned",
    closedTime: breach.closedTime ?? context.at.time,
  });
  await release(context, breach, dayOf(context.at.time) + 1);
  await liftPenalty(context, breach);
  const sla = await context.store.get("sla", breach.agent);
  await context.store.update("sla", breach.agent, { breaches: withoutLine(sla?.breaches ?? "", breach.id) });
}

async function confirm(context: ApplyContext, breach: Row<"breach">): Promise<void> {
  const confirmedTime = context.at.time;
  const confirmed = {
    ...breach,
    status: "confirmed",
    confirmedTime,
    checkedDay: Math.max(breach.checkedDay, dayOf(confirmedTime)),
  };
  await context.store.update("breach", breach.id, { status: "confirmed", confirmedTime });
  await context.store.update("sla", breach.agent, { lastConfirmed: confirmedTime });
  await noteStep(context, breach.id, "confirmed");
  await applyPenalty(context, confirmed);
}

/**
 * Closes a breach whose guarantee was at target for a day. The next breach of this guarantee uses only later
 * data.
 */
export async function closeBreach(context: ApplyContext, breach: Row<"breach">, day: number): Promise<void> {
  await context.store.update("breach", breach.id, { closedTime: context.at.time });
  await noteStep(context, breach.id, "closed");
  const sla = await context.store.get("sla", breach.agent);
  const ends = (sla?.suspensions ?? "").split("\n").map((line) => Number(line.split(" ")[2] ?? 0));
  await release(
    context,
    breach,
    Math.max(day + 1, ...ends.map((until) => (until === 0 ? 0 : dayOf(until) + 1))),
  );
}

async function release(context: ApplyContext, breach: Row<"breach">, fromDay: number): Promise<void> {
  const guarantee = await context.store.get("guarantee", breach.guarantee);
  if (guarantee?.openBreach !== breach.id) return;
  await context.store.update("guarantee", breach.guarantee, { openBreach: null, fromDay, closes: "" });
}

/**
 * Whether at least three families of buyers saw the bad figures. One buyer that refunds itself must not cause
 * a breach.
 */
export async function isOfManyBuyers(
  context: ApplyContext,
  guarantee: Row<"guarantee">,
  { fromDay, toDay }: { fromDay: number; toDay: number },
): Promise<boolean> {
  if (guarantee.metric === "uptime") return true;
  const families = new Set<string>();
  for (let day = fromDay; day <= toDay; day++) {
    for await (const id of itemsOf(context.store, slaHiresOf(guarantee.agent, day))) {
      const hire = await context.store.get("hire", id);
      if (hire === null || !(await isBad(context, guarantee, hire))) continue;
      const family = await knownFamily(context, hire.buyer);
      if (family !== null && family !== DEEP) families.add(family);
      if (families.size >= LEAST_FAMILIES) return true;
    }
  }
  return false;
}

async function isBad(
  context: ApplyContext,
  guarantee: Row<"guarantee">,
  hire: Row<"hire">,
): Promise<boolean> {
  if (isLatency(guarantee)) {
    const { latencyMs } = hire;
    return latencyMs !== null && isBeyond(guarantee, { n: BigInt(latencyMs), d: 1n }, guarantee.threshold);
  }
  return isFailure(hire, (await context.store.get("clientError", hire.id)) !== null);
}

export async function noteStep(
  context: ApplyContext,
  breach: string,
  what: string,
  record: string | null = null,
): Promise<void> {
  const { steps, agent } = await breachRow(context, breach);
  const { block, time } = context.at;
  await context.store.insert("breachStep", {
    id: `${breach}/${steps}`,
    breach,
    agent,
    step: what,
    record,
    block,
    time,
  });
  await context.store.update("breach", breach, { steps: steps + 1 });
}

export async function breachRow(context: ApplyContext, id: string): Promise<Row<"breach">> {
  const breach = await context.store.get("breach", id);
  if (breach === null) throw new Error(`There is no breach ${id}.`);
  return breach;
}
