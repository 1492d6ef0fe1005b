import type { ApplyContext } from "../../applyContext.ts";
import { existingRow } from "../../existingRow.ts";
import type { Rational } from "../../rational.ts";
import { ONE } from "../../rational.ts";
import type { Row } from "../../tables.ts";
import { dayOf, HOUR } from "../days.ts";
import { REPORT_SECONDS } from "../probes.ts";
import { parseSlotDays } from "../slotDays.ts";
import { breachRow, closeBreach, openBreach } from "./breaches.ts";
import { familiesFindBroken } from "./familyVote.ts";
import { SlaFigures } from "./figures.ts";
import { linesOf } from "./lines.ts";
import { RECOVERY_DAYS, scoreLeft } from "./penalties.ts";
import { isBeyond, nanoFigure, penaltyOf } from "./terms.ts";
import { daysUntilBreach, withClose } from "./trend.ts";

const STATUSES = ["compliant", "at_risk", "breached"];

/** The highest number of days that are closed in one tick: the longest window and one more day. */
const MAX_DAYS = 91;

/**
 * The factor that remains of the score, and the state of each guarantee: one line `guarantee current status
 * days` each, with `-` for a missing value.
 */
export type SlaOutcome = { left: Rational; guarantees: string };

/**
 * Evaluates an agent's promises once an hour: closes days, counts recovery, and finds breaches.
 *
 * @param row the agent's row, with the slots of all closed hours
 */
export function evaluateSla(context: ApplyContext, row: Row<"steward">): SlaOutcome {
  const sla = context.store.get("sla", row.id);
  if (sla === null) return { left: ONE, guarantees: "" };
  const figures = new SlaFigures(context, row.id, parseSlotDays(row.slots));
  const today = dayOf(context.at.time);
  // A day closes when the reports of its last hour can no longer come.
  const closedDay = dayOf(context.at.time - REPORT_SECONDS - 1) - 1;
  recover(context, sla, figures, closedDay);

  const binding: string[] = [];
  const lines: string[] = [];
  let worst = 0;
  for (const id of linesOf(sla.binding)) {
    const guarantee = existingRow(context.store, "guarantee", id);
    const isOver = guarantee.boundUntil !== null && context.at.time >= guarantee.boundUntil;
    if (isOver && guarantee.openBreach === null) continue;
    binding.push(id);
    const { current, status, daysUntilBreach } = look(context, guarantee, figures, {
      today,
      closedDay,
    });
    lines.push([id, current ?? "-", status, daysUntilBreach ?? "-"].join(" "));
    worst = Math.max(worst, STATUSES.indexOf(status));
  }
  // The new breaches are in the row by now.
  const known = existingRow(context.store, "sla", row.id);
  const breaches = linesOf(known.breaches).map((id) => breachRow(context, id));
  updateSla(context, known, {
    binding: binding.join("\n"),
    status: STATUSES[worst] as string,
    breaches: breaches
      .filter((it) => !isDone(it))
      .map(({ id }) => id)
      .join("\n"),
    suspensions: linesOf(known.suspensions)
      .filter((line) => Number(line.split(" ")[2]) > context.at.time - HOUR * 24 * RECOVERY_DAYS)
      .join("\n"),
  });
  return { left: scoreLeft(breaches), guarantees: lines.join("\n") };
}

/** Stores the row only if it changed. Most hours change nothing, and then no leaf of the digest changes. */
function updateSla(context: ApplyContext, before: Row<"sla">, change: Partial<Row<"sla">>): void {
  const isNew = ([column, value]: [string, unknown]) => before[column as keyof Row<"sla">] !== value;
  const changed = Object.entries(change).filter(isNew);
  if (changed.length > 0) context.store.update("sla", before.id, Object.fromEntries(changed));
}

/** Whether nothing can follow from a breach any more. */
function isDone(breach: Row<"breach">): boolean {
  if (breach.status === "overturned") return true;
  const isOwn = penaltyOf(breach).type !== "badge_revocation" || breach.isReinstated;
  return (
    breach.status === "confirmed" && breach.closedTime !== null && breach.goodDays >= RECOVERY_DAYS && isOwn
  );
}

/**
 * Counts the closed days for the breaches. A day at target closes a breach. After the confirmation each such
 * day counts as recovery.
 */
function recover(context: ApplyContext, sla: Row<"sla">, figures: SlaFigures, closedDay: number): void {
  for (const id of linesOf(sla.breaches)) {
    let breach = breachRow(context, id);
    let { goodDays, checkedDay } = breach;
    const first = Math.max(checkedDay + 1, closedDay - MAX_DAYS + 1);
    for (let day = first; day <= closedDay; day++) {
      checkedDay = day;
      const own = figures.over(breach.metric, day, day);
      if (own === null || isBeyond(breach, own.figure, breach.target)) continue;
      const { confirmedTime } = breach;
      if (confirmedTime !== null && day > dayOf(confirmedTime) && goodDays < RECOVERY_DAYS) goodDays++;
      if (breach.closedTime === null) {
        closeBreach(context, breach, day);
        breach = breachRow(context, id);
      }
    }
    if (goodDays !== breach.goodDays || checkedDay !== breach.checkedDay)
      context.store.update("breach", id, {
        checkedDay,
        ...(goodDays !== breach.goodDays && { goodDays }),
      });
  }
}

/** Evaluates one guarantee: stores the figures of closed days and the present figure, and opens a breach if needed. */
function look(
  context: ApplyContext,
  before: Row<"guarantee">,
  figures: SlaFigures,
  { today, closedDay }: { today: number; closedDay: number },
): Looked {
  let guarantee = before;
  const { metric, days } = guarantee;
  const firstOf = (day: number) => Math.max(guarantee.fromDay, day - days + 1);
  let { closes } = guarantee;
  const from = Math.max(guarantee.closedDay + 1, guarantee.fromDay, closedDay - MAX_DAYS + 1);
  for (let day = from; day <= closedDay; day++) {
    const then = figures.over(metric, firstOf(day), day);
    if (then !== null) closes = withClose(closes, day, nanoFigure(then.figure));
  }
  guarantee = { ...guarantee, closes, closedDay: Math.max(closedDay, guarantee.closedDay) };
  const window = { fromDay: firstOf(today), toDay: today };
  const now = figures.over(metric, window.fromDay, window.toDay);
  const current = now === null ? null : nanoFigure(now.figure);
  let { openBreach: open, lastBreach } = guarantee;
  const isBad = now?.isEnough === true && isBeyond(guarantee, now.figure, guarantee.threshold);
  if (
    now !== null &&
    isBad &&
    open === null &&
    familiesFindBroken(context.store, guarantee, figures.hires(window.fromDay, window.toDay))
  ) {
    open = openBreach(context, guarantee, now.figure, window).id;
    lastBreach = context.at.time;
  }
  const isShort = now !== null && isBeyond(guarantee, now.figure, guarantee.target);
  const looked: Looked = {
    current,
    status: open !== null ? "breached" : isShort ? "at_risk" : "compliant",
    daysUntilBreach: current === null || open !== null ? null : daysUntilBreach(guarantee, current),
  };
  context.store.update("guarantee", guarantee.id, {
    closes,
    closedDay: guarantee.closedDay,
    ...looked,
    ...(open !== guarantee.openBreach && { openBreach: open, lastBreach }),
  });
  return looked;
}

type Looked = Pick<Row<"guarantee">, "current" | "status" | "daysUntilBreach">;
