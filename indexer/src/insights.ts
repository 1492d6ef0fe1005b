import type { Row } from "tallystick-derive/tables";
import type { RowChange } from "tallystick-derive/transaction";

/** Weights in sums: millionths of a hire. */
export const MICRO = 1_000_000;
const DAY = 86_400;

/** What a set of hires adds up to. Counts are of hires; `weight` is dampened (1/cluster size), in millionths. */
export type Tally = {
  hires: number;
  weight: number;
  successes: number;
  failures: number;
  refunds: number;
  disputes: number;
  volume: bigint;
  latencies: number;
  latencySum: bigint;
};

/** A summary row that a hire belongs to. */
export type TallyKey =
  | { table: "agentDay"; id: string; agent: string; day: number }
  | { table: "capabilityDay"; id: string; capability: string; day: number }
  | { table: "capabilityAgent"; id: string; capability: string; agent: string }
  | { table: "capabilityTotal"; id: string; capability: string };

export type TallyChange = { key: TallyKey; by: Tally };

type Hire = Row<"hire">;

const NOTHING: Tally = {
  hires: 0,
  weight: 0,
  successes: 0,
  failures: 0,
  refunds: 0,
  disputes: 0,
  volume: 0n,
  latencies: 0,
  latencySum: 0n,
};

/**
 * What an event's changes add to the summaries of hires: per agent and day, per capability and day, and of the window per
 * capability and per agent in it; one change for each summary row. They follow from the `hire` rows alone and nothing is
 * derived from them.
 */
export function talliesOf(changes: readonly RowChange[]): TallyChange[] {
  const sums = new Map<string, TallyChange>();
  const count = (hire: Hire, sign: 1 | -1) => {
    const by = tallyOf(hire, sign);
    for (const key of keysOf(hire)) {
      const name = `${key.table} ${key.id}`;
      sums.set(name, { key, by: addTallies(sums.get(name)?.by ?? NOTHING, by) });
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

/** What several sets add up to. */
export function sumTallies(tallies: readonly Tally[]): Tally {
  return tallies.reduce(addTallies, NOTHING);
}

export function addTallies(a: Tally, b: Tally): Tally {
  return {
    hires: a.hires + b.hires,
    weight: a.weight + b.weight,
    successes: a.successes + b.successes,
    failures: a.failures + b.failures,
    refunds: a.refunds + b.refunds,
    disputes: a.disputes + b.disputes,
    volume: a.volume + b.volume,
    latencies: a.latencies + b.latencies,
    latencySum: a.latencySum + b.latencySum,
  };
}

function keysOf({ seller, capability, time, inWindow, isCanary }: Hire): TallyKey[] {
  // One that an operator of audits arranged is in no figure.
  if (isCanary) return [];
  const day = Math.floor(time / DAY);
  const keys: TallyKey[] = [{ table: "agentDay", id: `${seller}/${day}`, agent: seller, day }];
  if (capability === null) return keys;
  keys.push({ table: "capabilityDay", id: `${capability}/${day}`, capability, day });
  if (!inWindow) return keys;
  keys.push({ table: "capabilityAgent", id: `${seller}/${capability}`, capability, agent: seller });
  keys.push({ table: "capabilityTotal", id: capability, capability });
  return keys;
}

function tallyOf(hire: Hire, sign: 1 | -1): Tally {
  const count = (is: boolean) => (is ? sign : 0);
  return {
    hires: sign,
    weight: sign * Math.floor(MICRO / hire.clusterSize),
    successes: count(hire.outcome === "success"),
    failures: count(hire.outcome === "failure"),
    refunds: count(hire.refunded),
    disputes: count(hire.dispute),
    volume: BigInt(sign) * hire.price,
    latencies: count(hire.latencyMs !== null),
    latencySum: BigInt(sign) * BigInt(hire.latencyMs ?? 0),
  };
}
