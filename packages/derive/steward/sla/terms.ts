import { canonicalBody, type RecordBody } from "tallystick-protocol/json/recordBody";
import { parseDecimal } from "tallystick-protocol/records/decimalSchema";
import { daysOf, type SlaGuarantee, type SlaPenalty, windowDays } from "tallystick-protocol/records/sla";
import type { Row } from "../../tables.ts";
import { NANO } from "../nano.ts";

/** A figure as an exact fraction of its unit: 1 for shares, milliseconds for latencies. */
export type Figure = { n: bigint; d: bigint };

type Bounded = Pick<Row<"guarantee">, "metric">;

/** Whether a metric is a latency. A higher latency is worse. */
export function isLatency({ metric }: Bounded): boolean {
  return metric.startsWith("latency_");
}

/** Whether a figure is strictly on the bad side of a bound. */
export function isBeyond(of: Bounded, { n, d }: Figure, bound: bigint): boolean {
  const difference = n * BigInt(NANO) - bound * d;
  return isLatency(of) ? difference > 0n : difference < 0n;
}

/** A figure in units of 10⁻⁹, rounded half up. */
export function nanoFigure({ n, d }: Figure): bigint {
  return (2n * n * BigInt(NANO) + d) / (2n * d);
}

/** The columns of a guarantee's row that come from the record. */
export function termsOf(
  guarantee: SlaGuarantee,
): Pick<Row<"guarantee">, "metric" | "days" | "target" | "threshold" | "penalty"> {
  return {
    metric: guarantee.metric,
    days: windowDays(guarantee.measurement_window),
    target: parseDecimal(guarantee.target),
    threshold: parseDecimal(guarantee.breach_threshold),
    penalty: canonicalBody(guarantee.penalty as RecordBody),
  };
}

export function penaltyOf({ penalty }: Pick<Row<"breach">, "penalty">): SlaPenalty {
  return JSON.parse(penalty) as SlaPenalty;
}

type Terms = ReturnType<typeof termsOf>;

/**
 * Whether new terms for the same metric and window promise less than the old ones, or have a smaller penalty.
 */
export function isWeaker(terms: Terms, than: Terms): boolean {
  const sign = isLatency(terms) ? -1n : 1n;
  if (sign * (terms.target - than.target) < 0n || sign * (terms.threshold - than.threshold) < 0n) return true;
  return costsLess(penaltyOf(terms), penaltyOf(than));
}

/**
 * Whether a penalty is smaller. Penalties of different kinds cannot be compared, so the old one still binds
 * too.
 */
function costsLess(penalty: SlaPenalty, than: SlaPenalty): boolean {
  switch (penalty.type) {
    case "trust_score_reduction":
      return than.type !== penalty.type || parseDecimal(penalty.amount) < parseDecimal(than.amount);
    case "financial":
      return than.type !== penalty.type || parseDecimal(penalty.amount) < parseDecimal(than.amount);
    case "temporary_suspension":
      return than.type !== penalty.type || (daysOf(penalty.duration) ?? 0) < (daysOf(than.duration) ?? 0);
    case "badge_revocation":
      return than.type !== penalty.type || than.revoke.some((badge) => !penalty.revoke.includes(badge));
  }
}
