import { breachId } from "tallystick-protocol/records/breachId";
import { schedule } from "../../agenda.ts";
import { itemsOf } from "../../lists.ts";
import { partyOf } from "../../parties.ts";
import type { Step } from "../../step.ts";
import type { Row } from "../../tables.ts";
import { dayOf } from "../days.ts";
import { withLine, withoutLine } from "./lines.ts";
import { applyPenalty, liftPenalty } from "./penalties.ts";
import { isFailure, slaHiresOf } from "./slaHires.ts";
import { type Figure, isBeyond, isLatency, nanoFigure } from "./terms.ts";

/** Failures have to be of so many buyers of different clusters. */
const LEAST_BUYERS = 3;

/** Opens a breach of a guarantee, with the terms that it has now. */
export async function openBreach(
  step: Step,
  guarantee: Row<"guarantee">,
  figure: Figure,
  days: { fromDay: number; toDay: number },
): Promise<Row<"breach">> {
  const { block, time } = step.at;
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
    decidedBy: time + step.params.steward.disputeSeconds,
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
  await step.store.insert("breach", breach);
  const sla = await step.store.get("sla", agent);
  await step.store.update("sla", agent, { breaches: withLine(sla?.breaches ?? "", id) });
  await noteStep(step, id, "detected");
  await awaitDecision(step, breach);
  return breach;
}

/** One second more: the last second of the time still counts. */
function awaitDecision(step: Step, { id, decidedBy }: Row<"breach">): Promise<void> {
  return schedule(step, Math.max(decidedBy, step.state.time) + 1, "breach", id);
}

/** The time for a dispute, or for its ruling, is over: the breach stands. */
export async function breachDue(step: Step, id: string): Promise<void> {
  const breach = await breachRow(step, id);
  const isOpen = breach.status === "detected" || breach.status === "disputed";
  if (isOpen && step.at.time > breach.decidedBy) await confirm(step, breach);
}

export async function disputeSettled(step: Step, breach: Row<"breach">, record: string): Promise<void> {
  const decidedBy = step.at.time + step.params.steward.reviewSeconds;
  const disputed = { ...breach, status: "disputed", dispute: record, decidedBy };
  await step.store.update("breach", breach.id, { status: "disputed", dispute: record, decidedBy });
  await noteStep(step, breach.id, "disputed", record);
  await awaitDecision(step, disputed);
}

/** What an arbitrator decided; a late `overturned` lifts the penalty from here on. */
export async function rulingSettled(
  step: Step,
  breach: Row<"breach">,
  { ruling, excuse = null, record }: { ruling: string; excuse?: string | null | undefined; record: string },
): Promise<void> {
  await noteStep(step, breach.id, ruling, record);
  if (ruling === "reinstated") {
    await step.store.update("breach", breach.id, { isReinstated: true });
    return;
  }
  await step.store.update("breach", breach.id, { ruling: record, excuse });
  if (ruling === "upheld") return confirm(step, breach);
  await step.store.update("breach", breach.id, {
    status: "overturned",
    closedTime: breach.closedTime ?? step.at.time,
  });
  await release(step, breach, dayOf(step.at.time) + 1);
  await liftPenalty(step, breach);
  const sla = await step.store.get("sla", breach.agent);
  await step.store.update("sla", breach.agent, { breaches: withoutLine(sla?.breaches ?? "", breach.id) });
}

async function confirm(step: Step, breach: Row<"breach">): Promise<void> {
  const confirmedTime = step.at.time;
  const confirmed = {
    ...breach,
    status: "confirmed",
    confirmedTime,
    checkedDay: Math.max(breach.checkedDay, dayOf(confirmedTime)),
  };
  await step.store.update("breach", breach.id, { status: "confirmed", confirmedTime });
  await step.store.update("sla", breach.agent, { lastConfirmed: confirmedTime });
  await noteStep(step, breach.id, "confirmed");
  await applyPenalty(step, confirmed);
}

/** A breach was at target for a day: the next one of its guarantee uses only later data. */
export async function closeBreach(step: Step, breach: Row<"breach">, day: number): Promise<void> {
  await step.store.update("breach", breach.id, { closedTime: step.at.time });
  await noteStep(step, breach.id, "closed");
  const sla = await step.store.get("sla", breach.agent);
  const ends = (sla?.suspensions ?? "").split("\n").map((line) => Number(line.split(" ")[2] ?? 0));
  await release(
    step,
    breach,
    Math.max(day + 1, ...ends.map((until) => (until === 0 ? 0 : dayOf(until) + 1))),
  );
}

async function release(step: Step, breach: Row<"breach">, fromDay: number): Promise<void> {
  const guarantee = await step.store.get("guarantee", breach.guarantee);
  if (guarantee?.openBreach !== breach.id) return;
  await step.store.update("guarantee", breach.guarantee, { openBreach: null, fromDay, closes: "" });
}

/** Whether what is beyond the threshold was found by buyers of three different clusters: one buyer that refunds itself breaches nothing. */
export async function isOfManyBuyers(
  step: Step,
  guarantee: Row<"guarantee">,
  { fromDay, toDay }: { fromDay: number; toDay: number },
): Promise<boolean> {
  if (guarantee.metric === "uptime") return true;
  const parties = new Set<string>();
  for (let day = fromDay; day <= toDay; day++) {
    for await (const id of itemsOf(step.store, slaHiresOf(guarantee.agent, day))) {
      const hire = await step.store.get("hire", id);
      if (hire === null || !(await isBad(step, guarantee, hire))) continue;
      parties.add(await partyOf(step, hire.buyer));
      if (parties.size >= LEAST_BUYERS) return true;
    }
  }
  return false;
}

async function isBad(step: Step, guarantee: Row<"guarantee">, hire: Row<"hire">): Promise<boolean> {
  if (isLatency(guarantee)) {
    const { latencyMs } = hire;
    return latencyMs !== null && isBeyond(guarantee, { n: BigInt(latencyMs), d: 1n }, guarantee.threshold);
  }
  return isFailure(hire, (await step.store.get("clientError", hire.id)) !== null);
}

export async function noteStep(
  step: Step,
  breach: string,
  what: string,
  record: string | null = null,
): Promise<void> {
  const { steps, agent } = await breachRow(step, breach);
  const { block, time } = step.at;
  await step.store.insert("breachStep", {
    id: `${breach}/${steps}`,
    breach,
    agent,
    step: what,
    record,
    block,
    time,
  });
  await step.store.update("breach", breach, { steps: steps + 1 });
}

export async function breachRow(step: Step, id: string): Promise<Row<"breach">> {
  const breach = await step.store.get("breach", id);
  if (breach === null) throw new Error(`There is no breach ${id}.`);
  return breach;
}
