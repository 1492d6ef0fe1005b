import type { Params } from "tallystick-protocol/records/params";
import { nanoOf } from "./nano.ts";
import { type OutcomeDay, weighOutcomes } from "./outcomeDays.ts";
import type { SlotDay } from "./slotDays.ts";

const SCALE = 1_000_000_000_000n;

/**
 * The weights of past days. A day that is d days before today weighs qᵈ, in units of 10⁻¹², rounded half up
 * (T010).
 */
export function decayWeights({ numerator, denominator }: Params["starDecay"], days: number): bigint[] {
  return Array.from({ length: days }, (_, d) => {
    const [n, m] = [BigInt(numerator) ** BigInt(d), BigInt(denominator) ** BigInt(d)];
    return (2n * n * SCALE + m) / (2n * m);
  });
}

/** The success rate in which older days weigh less; null without a hire. */
export function decayedSuccess(
  days: readonly OutcomeDay[],
  today: number,
  weights: readonly bigint[],
): number | null {
  const { ok, failed } = weighOutcomes(days, (day) => weights[today - day]);
  const all = ok.n * failed.d + failed.n * ok.d;
  return all === 0n ? null : nanoOf(ok.n * failed.d, all);
}

/**
 * The uptime in which older days weigh less; null without data. A weight is at most 10¹², a day has at most 288
 * slots, and there are at most 30 weights. So the sums are below 2⁵³ and exact.
 */
export function decayedUptime(
  days: readonly SlotDay[],
  today: number,
  weights: readonly bigint[],
): number | null {
  let [up, all] = [0, 0];
  for (let at = days.length - 1; at >= 0; at--) {
    const { day, data, down } = days[at] as SlotDay;
    const weight = weights[today - day];
    if (weight === undefined) {
      if (day > today) continue;
      break;
    }
    up += Number(weight) * (data - down);
    all += Number(weight) * data;
  }
  return all === 0 ? null : nanoOf(BigInt(up), BigInt(all));
}
