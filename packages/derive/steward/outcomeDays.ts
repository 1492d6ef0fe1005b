import { parseDecimal } from "tallystick-protocol/records/decimalSchema";
import type { ApplyContext } from "../applyContext.ts";
import { flat } from "../flat.ts";
import {
  add,
  compare,
  formatRational,
  multiply,
  ONE,
  parseRational,
  type Rational,
  rational,
  subtract,
  ZERO,
} from "../rational.ts";
import type { Row } from "../tables.ts";
import { dayOf } from "./days.ts";
import { NANO } from "./nano.ts";
import { takePaymentBack } from "./sla/paidClaims.ts";
import { noteForSla } from "./sla/slaHires.ts";
import { KEPT_DAYS } from "./slotDays.ts";
import { ensureSteward } from "./stewardRow.ts";

/** Sums of weights of one UTC day's hires. */
export type OutcomeDay = { day: number; ok: Rational; failed: Rational };

/** Adds a hire that is counted to its seller's day. */
export function noteSale(context: ApplyContext, hire: Row<"hire">): void {
  const row = ensureSteward(context, hire.seller);
  if (row === null) return;
  const part = partOf(context, hire);
  const outcomes = changed(context, row.outcomes, hire, part);
  const hardSales = changedHard(context, row.hardSales, hire, part, takeDifficulty(context, hire));
  context.store.put("steward", { ...row, sales: row.sales + 1, outcomes, hardSales });
  noteForSla(context, null, heardOf(context, hire));
  takePaymentBack(context, hire.id);
}

/** Updates the day of a hire when a new fact about it became known or its weight changed. */
export function noteAmended(context: ApplyContext, before: Row<"hire">, after: Row<"hire">): void {
  const row = context.store.get("steward", before.seller);
  const [was, is] = [partOf(context, before), partOf(context, after)];
  noteForSla(context, heardOf(context, before), heardOf(context, after));
  if (row === null) return;
  // Its capability may become known only now.
  const extraBefore = extraOf(context, before.id);
  const extra = before.capability === null ? takeDifficulty(context, after) : extraBefore;
  const isSame = compare(was.ok, is.ok) === 0 && compare(was.failed, is.failed) === 0;
  if (isSame && compare(extraBefore, extra) === 0) return;
  const gone = changedHard(context, row.hardSales, after, negative(was), extraBefore);
  context.store.update("steward", row.id, {
    outcomes: changed(context, row.outcomes, after, difference(is, was)),
    hardSales: changedHard(context, gone, after, is, extra),
  });
}

/** Removes a hire that an operator of audits arranged from its seller's sales and their days. */
export function noteWithdrawn(context: ApplyContext, before: Row<"hire">): void {
  noteAmended(context, before, { ...before, isCanary: true });
  const row = context.store.get("steward", before.seller);
  if (row !== null) context.store.update("steward", row.id, { sales: row.sales - 1 });
}

/**
 * Called when the buyer of a hire declares that its own request caused the failure. Such a failure does not count
 * (T007), unless an audit found it.
 */
export function noteClientError(context: ApplyContext, hireId: string): void {
  if (context.store.get("clientError", hireId) !== null) return;
  const hire = context.store.get("hire", hireId);
  const row = hire === null ? null : context.store.get("steward", hire.seller);
  if (hire === null || row === null) return;
  const was = partOf(context, hire);
  context.store.insert("clientError", { id: hireId });
  const is = partOf(context, hire);
  noteForSla(context, { hire, isExcused: false }, { hire, isExcused: true });
  const by = difference(is, was);
  context.store.update("steward", row.id, {
    outcomes: changed(context, row.outcomes, hire, by),
    hardSales: changedHard(context, row.hardSales, hire, by, extraOf(context, hireId)),
  });
}

/**
 * Stores the extra weight of a hire for the difficulty of its capability, as published now. The hire keeps
 * this weight (T014).
 */
function takeDifficulty(context: ApplyContext, { id, capability }: Row<"hire">): Rational {
  const { difficulty } = context.params.steward;
  const published =
    capability !== null && Object.hasOwn(difficulty, capability) ? difficulty[capability] : undefined;
  if (published === undefined) return ZERO;
  const extra = subtract(rational(parseDecimal(published), BigInt(NANO)), ONE);
  if (extra.n !== 0n) context.store.insert("hardHire", { id, extra: formatRational(extra) });
  return extra;
}

function extraOf(context: ApplyContext, hire: string): Rational {
  const known = context.store.get("hardHire", hire);
  return known === null ? ZERO : parseRational(known.extra);
}

function changedHard(
  context: ApplyContext,
  text: string,
  hire: Row<"hire">,
  by: Omit<OutcomeDay, "day">,
  extra: Rational,
): string {
  if (extra.n === 0n) return text;
  return changed(context, text, hire, { ok: multiply(by.ok, extra), failed: multiply(by.failed, extra) });
}

function difference(a: Omit<OutcomeDay, "day">, b: Omit<OutcomeDay, "day">): Omit<OutcomeDay, "day"> {
  return { ok: subtract(a.ok, b.ok), failed: subtract(a.failed, b.failed) };
}

function negative(part: Omit<OutcomeDay, "day">): Omit<OutcomeDay, "day"> {
  return difference({ ok: ZERO, failed: ZERO }, part);
}

function heardOf(context: ApplyContext, hire: Row<"hire">): { hire: Row<"hire">; isExcused: boolean } {
  return { hire, isExcused: context.store.get("clientError", hire.id) !== null };
}

/** The weights that a hire adds to its day. */
function partOf(context: ApplyContext, hire: Row<"hire">): Omit<OutcomeDay, "day"> {
  if (hire.isCanary) return { ok: ZERO, failed: ZERO };
  const weight = rational(1n, BigInt(hire.clusterSize));
  if (hire.outcome === "success") return { ok: weight, failed: ZERO };
  if (hire.outcome !== "failure") return { ok: ZERO, failed: ZERO };
  const isExcused = hire.evidence !== "audit" && context.store.get("clientError", hire.id) !== null;
  return { ok: ZERO, failed: isExcused ? ZERO : weight };
}

/** Adds to the hire's day, and drops days that are too old to be kept. */
function changed(
  context: ApplyContext,
  text: string,
  { time }: Row<"hire">,
  by: Omit<OutcomeDay, "day">,
): string {
  const first = dayOf(context.at.time) - KEPT_DAYS + 1;
  const day = dayOf(time);
  const lastAt = text.lastIndexOf(";") + 1;
  // Nearly every hire is of the last day or of a later one. Then the text of the days before is kept as it is.
  if (text !== "" && Number.parseInt(text, 10) >= first) {
    const [last] = parseOutcomeDays(text.slice(lastAt));
    if (last !== undefined && last.day < day) return flat(`${text};${formatDay({ day, ...by })}`);
    if (last?.day === day) return flat(text.slice(0, lastAt) + formatDay(sumOf(last, by)));
  }
  const days = parseOutcomeDays(text).filter((it) => it.day >= first);
  if (day >= first) {
    const at = days.findIndex((it) => it.day >= day);
    const known = days[at];
    if (known?.day === day) days[at] = sumOf(known, by);
    else days.splice(at < 0 ? days.length : at, 0, { day, ...by });
  }
  return days.map(formatDay).join(";");
}

function sumOf({ day, ok, failed }: OutcomeDay, by: Omit<OutcomeDay, "day">): OutcomeDay {
  return { day, ok: add(ok, by.ok), failed: add(failed, by.failed) };
}

function formatDay({ day, ok, failed }: OutcomeDay): string {
  return `${day}:${formatRational(ok)}:${formatRational(failed)}`;
}

/**
 * Parses the days without making lists of their parts, because the days of every agent are read every hour.
 */
export function parseOutcomeDays(text: string): OutcomeDay[] {
  const days: OutcomeDay[] = [];
  for (let at = 0; at < text.length; ) {
    const ok = text.indexOf(":", at) + 1;
    const failed = text.indexOf(":", ok) + 1;
    const next = text.indexOf(";", failed);
    const end = next < 0 ? text.length : next;
    days.push({
      day: Number(text.slice(at, ok - 1)),
      ok: parseRational(text.slice(ok, failed - 1)),
      failed: parseRational(text.slice(failed, end)),
    });
    at = end + 1;
  }
  return days;
}

/** The sums over an N-day window: today and the N − 1 UTC days before. */
export function sumOutcomes(
  days: readonly OutcomeDay[],
  today: number,
  window: number,
): Omit<OutcomeDay, "day"> {
  return weighOutcomes(days, (day) => (day > today - window && day <= today ? 1n : undefined));
}

/**
 * The sums with a weight for each day; days without a weight do not count. Most weights are whole numbers,
 * which need no common denominator.
 */
export function weighOutcomes(
  days: readonly OutcomeDay[],
  weightOf: (day: number) => bigint | undefined,
): Omit<OutcomeDay, "day"> {
  let [okWhole, failedWhole] = [0n, 0n];
  let [ok, failed] = [ZERO, ZERO];
  for (const it of days) {
    const weight = weightOf(it.day);
    if (weight === undefined) continue;
    if (it.ok.d === 1n) okWhole += it.ok.n * weight;
    else ok = add(ok, multiply(it.ok, { n: weight, d: 1n }));
    if (it.failed.d === 1n) failedWhole += it.failed.n * weight;
    else failed = add(failed, multiply(it.failed, { n: weight, d: 1n }));
  }
  return { ok: add(ok, { n: okWhole, d: 1n }), failed: add(failed, { n: failedWhole, d: 1n }) };
}
