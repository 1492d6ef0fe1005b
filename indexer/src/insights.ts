import type { Store } from "./derive/store.ts";
import type { Row } from "./derive/tables.ts";

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

/** Which columns of a hire its summaries are made of; other changes do not matter. */
const TALLIED = ["capability", "outcome", "refunded", "dispute", "latencyMs", "inWindow"] as const;

/**
 * Keeps summaries of hires for insights: per agent and day, per capability and day, and of the window per capability and per
 * agent in it. They follow from the `hire` rows alone and nothing is derived from them.
 */
export class Tallies {
  readonly #changes = new Map<string, TallyChange>();

  /** The store, with every hire that is written taken into account. */
  watch(store: Store): Store {
    return {
      get: (table, id) => store.get(table, id),
      insert: async (table, row) => {
        await store.insert(table, row);
        if (table === "hire") this.#count(row as Hire, 1);
      },
      update: async (table, id, change) => {
        const matters = table === "hire" && TALLIED.some((column) => column in change);
        const before = matters ? await store.get("hire", id) : null;
        await store.update(table, id, change);
        if (before === null) return;
        this.#count(before, -1);
        this.#count({ ...before, ...(change as Partial<Hire>) }, 1);
      },
    };
  }

  /** What has to be added to the summary rows, one change for each. */
  changes(): TallyChange[] {
    return [...this.#changes.values()].filter(({ by }) =>
      Object.values(by).some((value) => value !== 0 && value !== 0n),
    );
  }

  #count(hire: Hire, sign: 1 | -1): void {
    const by = tallyOf(hire, sign);
    for (const key of keysOf(hire)) {
      const name = `${key.table} ${key.id}`;
      const sum = this.#changes.get(name)?.by ?? NOTHING;
      this.#changes.set(name, { key, by: addTallies(sum, by) });
    }
  }
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

function keysOf({ seller, capability, time, inWindow }: Hire): TallyKey[] {
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
