import type { ApplyContext } from "../../applyContext.ts";
import { forEachRow } from "../../loadedRows.ts";
import { selectAcross } from "../../orderedSet.ts";
import type { Store } from "../../store.ts";
import type { Row, TableName } from "../../tables.ts";
import { SLOTS_PER_DAY, type SlotDay } from "../slotDays.ts";
import { latenciesOf } from "./slaHires.ts";
import type { Figure } from "./terms.ts";

/** The smallest number of hires, and the smallest number of slots with data, that a breach needs. */
const MIN_HIRES = 20;
const MIN_SLOTS = (3 * SLOTS_PER_DAY) / 4;

/** A metric over some days, and whether there are enough data for a breach. */
export type Measured = { figure: Figure; isEnough: boolean };

/**
 * The figures of an agent's service by UTC day. Each row is read once, because nothing changes while the figures are
 * computed.
 */
export class SlaFigures {
  readonly #rows: Pick<Store, "get">;
  readonly #agent: string;
  readonly #slots: readonly SlotDay[];

  constructor({ store }: ApplyContext, agent: string, slots: readonly SlotDay[]) {
    this.#rows = readOnce(store);
    this.#agent = agent;
    this.#slots = slots;
  }

  /** The figure of a metric over the days from `from` to `to`, both included; null without data. */
  over(metric: string, from: number, to: number): Measured | null {
    if (metric === "uptime") return this.#uptime(from, to);
    const days = this.hires(from, to);
    return metric === "success_rate"
      ? successIn(days)
      : latencyIn(this.#rows, days, Number(metric.slice("latency_p".length)));
  }

  /** The days with hires from `from` to `to`, both included. */
  hires(from: number, to: number): Row<"slaDay">[] {
    const days: Row<"slaDay">[] = [];
    // Before the first midnight after the promise there is no day, and the length is negative.
    const numbers = Array.from({ length: to - from + 1 }, (_, n) => from + n);
    forEachRow(numbers, (day) => {
      const row = this.#rows.get("slaDay", `${this.#agent}/${day}`);
      if (row !== null) days.push(row);
    });
    return days;
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
}

/** The rows of a store, each read from it once. */
function readOnce(store: Pick<Store, "get">): Pick<Store, "get"> {
  const known = new Map<string, unknown>();
  return {
    get: <T extends TableName>(table: T, id: string) => {
      const key = `${table} ${id}`;
      if (!known.has(key)) known.set(key, store.get(table, id));
      return known.get(key) as Row<T> | null;
    },
  };
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

/**
 * The percentile by nearest rank: the smallest latency that at least `percent` percent of the hires do not
 * exceed.
 */
function latencyIn(
  rows: Pick<Store, "get">,
  days: readonly Row<"slaDay">[],
  percent: number,
): Measured | null {
  const all = days.reduce((sum, { latencies }) => sum + latencies, 0);
  if (all === 0) return null;
  const sets = days.flatMap(({ id, latencies }) => (latencies === 0 ? [] : latenciesOf(id)));
  const n = selectAcross(rows, sets, Math.ceil((all * percent) / 100) - 1);
  return { figure: { n, d: 1n }, isEnough: all >= MIN_HIRES };
}
