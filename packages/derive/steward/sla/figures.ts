import type { ApplyContext } from "../../applyContext.ts";
import type { Row } from "../../tables.ts";
import { SLOTS_PER_DAY, type SlotDay } from "../slotDays.ts";
import { parseLatencies } from "./slaHires.ts";
import type { Figure } from "./terms.ts";

/** Fewer hires than this, or data for less than three quarters of a day, are not enough for a breach. */
const MIN_HIRES = 20;
const MIN_SLOTS = (3 * SLOTS_PER_DAY) / 4;

/** A metric over some days, and whether there is enough of it for a breach. */
export type Measured = { figure: Figure; isEnough: boolean };

/** The figures of an agent's service by UTC day. Each day is read once. */
export class SlaFigures {
  readonly #context: ApplyContext;
  readonly #agent: string;
  readonly #slots: readonly SlotDay[];
  readonly #days = new Map<number, Row<"slaDay"> | null>();

  constructor(context: ApplyContext, agent: string, slots: readonly SlotDay[]) {
    this.#context = context;
    this.#agent = agent;
    this.#slots = slots;
  }

  /** The figure of a metric over the days from `from` to `to`, both included; null without data. */
  over(metric: string, from: number, to: number): Measured | null {
    if (metric === "uptime") return this.#uptime(from, to);
    const days = this.#hires(from, to);
    return metric === "success_rate"
      ? successIn(days)
      : latencyIn(days, Number(metric.slice("latency_p".length)));
  }

  #uptime(from: number, to: number): Measured | null {
    let [data, down] = [0, 0];
    for (const it of this.#slots) {
      if (it.day < from || it.day > to) continue;
      data += it.data;
      down += it.down;
    }
    if (data === 0) return null;
    return { figure: { n: BigInt(data - down), d: BigInt(data) }, isEnough: data >= MIN_SLOTS };
  }

  #hires(from: number, to: number): Row<"slaDay">[] {
    const rows: Row<"slaDay">[] = [];
    for (let day = from; day <= to; day++) {
      let row = this.#days.get(day);
      if (row === undefined) {
        row = this.#context.store.get("slaDay", `${this.#agent}/${day}`);
        this.#days.set(day, row);
      }
      if (row !== null) rows.push(row);
    }
    return rows;
  }
}

function successIn(days: readonly Row<"slaDay">[]): Measured | null {
  let [ok, failed] = [0, 0];
  for (const it of days) {
    ok += it.ok;
    failed += it.failed;
  }
  const all = ok + failed;
  if (all === 0) return null;
  return { figure: { n: BigInt(ok), d: BigInt(all) }, isEnough: all >= MIN_HIRES };
}

/** The percentile by nearest rank: the smallest latency that so many percent of the hires do not exceed. */
function latencyIn(days: readonly Row<"slaDay">[], percent: number): Measured | null {
  const counts = new Map<number, number>();
  let all = 0;
  for (const { latencies } of days) {
    for (const [ms, n] of parseLatencies(latencies)) {
      counts.set(ms, (counts.get(ms) ?? 0) + n);
      all += n;
    }
  }
  let rank = Math.ceil((all * percent) / 100);
  for (const [ms, n] of [...counts].sort(([a], [b]) => a - b)) {
    rank -= n;
    if (rank <= 0) return { figure: { n: BigInt(ms), d: 1n }, isEnough: all >= MIN_HIRES };
  }
  return null;
}
