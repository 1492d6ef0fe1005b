import { parseUsdc } from "tallystick-protocol/amount";
import { parseDecimal } from "tallystick-protocol/records/decimalSchema";
import { daysOf } from "tallystick-protocol/records/sla";
import type { ApplyContext } from "../../applyContext.ts";
import { existingRow } from "../../existingRow.ts";
import { itemsOf } from "../../lists.ts";
import { forEachRow } from "../../loadedRows.ts";
import { multiply, ONE, type Rational, rational } from "../../rational.ts";
import type { Row } from "../../tables.ts";
import { DAY } from "../days.ts";
import { NANO } from "../nano.ts";
import { linesOf, withLine } from "./lines.ts";
import { slaHiresOf } from "./slaHires.ts";
import { penaltyOf } from "./terms.ts";

/** Good days after which the effect of a penalty is over. */
export const RECOVERY_DAYS = 30;

/** Applies the one-time costs of a confirmed breach. Its effect on the score is computed every hour. */
export function applyPenalty(context: ApplyContext, breach: Row<"breach">): void {
  const penalty = penaltyOf(breach);
  if (penalty.type === "temporary_suspension") {
    const from = context.at.time + context.params.steward.suspensionNoticeSeconds;
    const until = from + (daysOf(penalty.duration) ?? 0) * DAY;
    const { suspensions } = existingRow(context.store, "sla", breach.agent);
    context.store.update("sla", breach.agent, {
      suspensions: withLine(suspensions, `${breach.id} ${from} ${until}`),
    });
  }
  if (penalty.type === "financial") shareOut(context, breach, parseUsdc(penalty.amount));
}

/**
 * Divides an amount among the buyers of the breach's days in proportion to what they paid before its detection. Each
 * share is rounded down. Hires that were paid or counted later do not count: the agent could buy from itself, or sign
 * receipts for earlier transfers from itself, and get most of the shares.
 */
function shareOut(context: ApplyContext, breach: Row<"breach">, amount: bigint): void {
  const paid = new Map<string, bigint>();
  let total = 0n;
  const days = Array.from({ length: breach.toDay - breach.fromDay + 1 }, (_, n) => breach.fromDay + n);
  forEachRow(days, (day) =>
    forEachRow(itemsOf(context.store, slaHiresOf(breach.agent, day)), (id) => {
      const hire = existingRow(context.store, "hire", id);
      const isLater = hire.time >= breach.detectedTime || hire.countedBlock > breach.detectedBlock;
      if (hire.isCanary || hire.price === 0n || isLater) return;
      paid.set(hire.buyer, (paid.get(hire.buyer) ?? 0n) + hire.price);
      total += hire.price;
    }),
  );
  let owedInAll = 0n;
  for (const [buyer, price] of paid) {
    const owed = (amount * price) / total;
    if (owed === 0n) continue;
    owedInAll += owed;
    context.store.insert("slaClaim", {
      id: `${breach.id}/${buyer}`,
      breach: breach.id,
      buyer,
      owed,
      payment: null,
    });
  }
  context.store.update("breach", breach.id, { owed: owedInAll });
}

/**
 * Ends the penalty of a breach that was overturned after its confirmation. Payments stay, and open debts are
 * dropped.
 */
export function liftPenalty(context: ApplyContext, breach: Row<"breach">): void {
  if (breach.status !== "confirmed") return;
  const sla = existingRow(context.store, "sla", breach.agent);
  const suspensions = linesOf(sla.suspensions).filter((line) => !line.startsWith(`${breach.id} `));
  context.store.update("sla", breach.agent, { suspensions: suspensions.join("\n") });
  context.store.update("breach", breach.id, { owed: breach.paid });
}

/**
 * The share of the score that remains after penalties. Each confirmed breach that reduces the score multiplies this
 * share by 1 − amount·(30 − g)/30, where g is the breach's number of good days, at most 30.
 */
export function scoreLeft(breaches: readonly Row<"breach">[]): Rational {
  let left = ONE;
  for (const breach of breaches) {
    const penalty = penaltyOf(breach);
    if (breach.status !== "confirmed" || penalty.type !== "trust_score_reduction") continue;
    const whole = BigInt(NANO) * BigInt(RECOVERY_DAYS);
    const lost = parseDecimal(penalty.amount) * BigInt(RECOVERY_DAYS - breach.goodDays);
    left = multiply(left, rational(whole - lost, whole));
  }
  return left;
}

/**
 * Until when an agent takes no new hires: the latest end of its suspensions that have begun. Null if it takes
 * hires.
 */
export function suspendedUntil(suspensions: string | undefined, time: number): number | null {
  let last: number | null = null;
  for (const line of linesOf(suspensions)) {
    const [, from, until] = line.split(" ").map(Number) as [number, number, number];
    if (from <= time && time < until) last = Math.max(last ?? 0, until);
  }
  return last;
}

/** The badges that breaches take from an agent. They return after 30 good days and a ruling `reinstated`. */
export function revokedBadges(breaches: readonly Row<"breach">[]): Set<string> {
  const revoked = new Set<string>();
  for (const breach of breaches) {
    const penalty = penaltyOf(breach);
    if (breach.status !== "confirmed" || penalty.type !== "badge_revocation") continue;
    if (breach.isReinstated && breach.goodDays >= RECOVERY_DAYS) continue;
    for (const badge of penalty.revoke) revoked.add(badge);
  }
  return revoked;
}
