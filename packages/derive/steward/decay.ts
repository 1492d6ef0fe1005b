import type { Params } from "tallystick-protocol/records/params";
import { add, multiply, type Rational, rational, ZERO } from "../rational.ts";
import { nanoOf } from "./nano.ts";
import type { OutcomeDay } from "./outcomeDays.ts";
import type { SlotDay } from "./slotDays.ts";

const SCALE = 1_000_000_000_000n;

/** What a day counts that is d days before today: qᵈ in units of 10⁻¹², rounded half up (T010). */
export function decayWeights({ numerator, denominator }: Params["starDecay"], days: number): bigint[] {
  return Array.from({ length: days }, (_, d) => {
    const [n, m] = [BigInt(numerator) ** BigInt(d), BigInt(denominator) ** BigInt(d)];
    return (2n * n * SCALE + m) / (2n * m);
  });
}

/** Success where a day counts less with every day that it is ago; null without a hire. */
export function decayedSuccess(
  days: readonly OutcomeDay[],
  today: number,
  weights: readonly bigint[],
): number | null {
  let [ok, all]: [Rational, Rational] = [ZERO, ZERO];
  for (const it of days) {
    const weight = weights[today - it.day];
    if (weight === undefined) continue;
    ok = add(ok, multiply(it.ok, rational(weight)));
    all = add(all, multiply(add(it.ok, it.failed), rational(weight)));
  }
  return all.n === 0n ? null : nanoOf(ok.n * all.d, ok.d * all.n);
}

/** Uptime likewise; null without data. */
export function decayedUptime(
  days: readonly SlotDay[],
  today: number,
  weights: readonly bigint[],
): number | null {
  let [up, all] = [0n, 0n];
  for (const { day, data, down } of days) {
    const weight = weights[today - day];
    if (weight === undefined) continue;
    up += weight * BigInt(data - down);
    all += weight * BigInt(data);
  }
  return all === 0n ? null : nanoOf(up, all);
}
