import type { Row } from "tallystick-derive/tables";
import type { RowChange } from "tallystick-derive/transaction";

/** Weights in sums: millionths of a hire. */
export const MICRO = 1_000_000;
const DAY = 86_400;

/**
 * The sums over a set of hires. Each count is a number of hires. Weights are dampened (1/cluster size) and in
 * millionths. One sum of weights is over all hires, one over the successes, and one over successes and failures.
 */
export type Tally = {
  hires: number;
  weight: number;
  successes: number;
  failures: number;
  refunds: number;
  disputes: number;
  successWeight: number;
  ratedWeight: number;
  volume: bigint;
  latencies: number;
  latencySum: bigint;
};

/** A summary row that a hire belongs to. */
export type TallyKey =
  | { table: "agentDay"; id: string; agent: string; day: number }
  | { table: "capabilityDay"; id: string; capability: string; day: number }
  | { table: "capabilityAgent"; id: string; capability: string; agent: string }
  | { table: "capabilityTotal"; id: string; capability: string }
  | { table: "agentPair"; id: string; seller: string; buyer: string }
  | { table: "marketDay"; id: string; day: number }
  | { table: "marketTotal"; id: "all" | "window" };

export type TallyChange = { key: TallyKey; by: Tally };

type Hire = Row<"hire">;

export const NO_HIRES: Tally = {
  hires: 0,
  weight: 0,
  successes: 0,
  failures: 0,
  refunds: 0,
  disputes: 0,
  successWeight: 0,
  ratedWeight: 0,
  volume: 0n,
  latencies: 0,
  latencySum: 0n,
};

/**
 * What an event's changes add to the summaries of hires, with one change for each summary row. There are summaries
 * per agent and day, per pair of agents, per capability and day, and per day. Others are of all time, and of the
 * window: in total, per capability, and per agent in a capability. Summaries follow from the `hire` rows alone, and
 * nothing is derived from them.
 */
export function talliesOf(changes: readonly RowChange[]): TallyChange[] {
  const sums = new Map<string, TallyChange>();
  const count = (hire: Hire, sign: 1 | -1) => {
    const by = tallyOf(hire, sign);
    for (const key of keysOf(hire)) {
      const name = `${key.table} ${key.id}`;
      sums.set(name, { key, by: addTallies(sums.get(name)?.by ?? NO_HIRES, by) });
    }
  };
  for (const { table, before, after } of changes) {
    if (table !== "hire") continue;
    if (before !== null) count(before as Hire, -1);
    count(after as Hire, 1);
  }
  return [...sums.values()].filter(({ by }) =>
    Object.values(by).some((value) => value !== 0 && value !== 0n),
  );
}

/** The sum of several sets. */
export function sumTallies(tallies: readonly Tally[]): Tally {
  return tallies.reduce(addTallies, NO_HIRES);
}

export function addTallies(a: Tally, b: Tally): Tally {
  return {
    hires: a.hires + b.hires,
    weight: a.weight + b.weight,
    successes: a.successes + b.successes,
    failures: a.failures + b.failures,
    refunds: a.refunds + b.refunds,
    disputes: a.disputes + b.disputes,
    successWeight: a.successWeight + b.successWeight,
    ratedWeight: a.ratedWeight + b.ratedWeight,
    volume: a.volume + b.volume,
    latencies: a.latencies + b.latencies,
    latencySum: a.latencySum + b.latencySum,
  };
}

function keysOf({ seller, buyer, capability, time, inWindow, isCanary }: Hire): TallyKey[] {
  // A hire that an operator of audits arranged is in no figure.
  if (isCanary) return [];
  const day = Math.floor(time / DAY);
  const keys: TallyKey[] = [
    { table: "agentDay", id: `${seller}/${day}`, agent: seller, day },
    { table: "agentPair", id: `${seller}/${buyer}`, seller, buyer },
    { table: "marketDay", id: String(day), day },
    { table: "marketTotal", id: "all" },
  ];
  if (inWindow) keys.push({ table: "marketTotal", id: "window" });
  if (capability === null) return keys;
  keys.push({ table: "capabilityDay", id: `${capability}/${day}`, capability, day });
  if (!inWindow) return keys;
  keys.push({ table: "capabilityAgent", id: `${seller}/${capability}`, capability, agent: seller });
  keys.push({ table: "capabilityTotal", id: capability, capability });
  return keys;
}

function tallyOf(hire: Hire, sign: 1 | -1): Tally {
  const count = (is: boolean) => (is ? sign : 0);
  const weight = sign * Math.floor(MICRO / hire.clusterSize);
  const isSuccess = hire.outcome === "success";
  return {
    hires: sign,
    weight,
    successWeight: isSuccess ? weight : 0,
    ratedWeight: isSuccess || hire.outcome === "failure" ? weight : 0,
    successes: count(isSuccess),
    failures: count(hire.outcome === "failure"),
    refunds: count(hire.refunded),
    disputes: count(hire.dispute),
    volume: BigInt(sign) * hire.price,
    latencies: count(hire.latencyMs !== null),
    latencySum: BigInt(sign) * BigInt(hire.latencyMs ?? 0),
  };
}
