import { forEachRow } from "../loadedRows.ts";
import { addEntry, type Entry, entriesDown, entriesUp } from "../orderIndex.ts";
import type { Store } from "../store.ts";

/** An agent that was funded: the time of the funding, and the block in which the agent was registered. */
export type Funded = { agent: string; time: number; block: number };

/**
 * Agents in order of a number (a time, or a block), from `at` to `until`, both included. Agents with the same number
 * are in the order in which they came.
 */
export type Order = {
  down: (at: number, until: number) => Iterable<Entry>;
  up: (at: number, until: number) => Iterable<Entry>;
};

/**
 * Most funders funded few agents. Up to `FEW` fundings are one row of `orderIndex`, in the order in which they came.
 * After that the row is empty and two indexes replace it.
 */
const FEW = 24;

/**
 * Notes that `funder` funded an agent.
 *
 * @returns all agents that it funded: `byTime` by the time of the funding, `byBlock` by the block of registration. An
 * order is null if it already had this agent with the same number. `others` is an upper limit of the number of other
 * agents in them
 */
export function addFunded(
  store: Store,
  funder: string,
  funded: Funded,
): { byTime: Order | null; byBlock: Order | null; others: number } {
  const id = `funded/${funder}`;
  const row = store.get("orderIndex", id);
  if (row?.value === "") return { ...addToIndexes(store, funder, funded), others: Number.POSITIVE_INFINITY };
  const known = row === null ? [] : parseFunded(row.value);
  const ofAgent = known.filter(({ agent }) => agent === funded.agent);
  if (ofAgent.some(({ time }) => time === funded.time)) return { byTime: null, byBlock: null, others: 0 };

  const all = [...known, funded];
  if (row === null) store.insert("orderIndex", { id, value: formatFunded(funded) });
  else if (all.length <= FEW) {
    store.update("orderIndex", id, { value: `${row.value},${formatFunded(funded)}` });
  } else {
    store.update("orderIndex", id, { value: "" });
    forEachRow(all, (it) => addToIndexes(store, funder, it));
  }
  return {
    byTime: orderOf(all, "time"),
    byBlock: ofAgent.length > 0 ? null : orderOf(all, "block"),
    others: known.length - ofAgent.length,
  };
}

function addToIndexes(store: Store, funder: string, { agent, time, block }: Funded) {
  const add = (index: string, at: number): Order | null => {
    if (!addEntry(store, index, { at, member: agent })) return null;
    return {
      down: (from, until) => entriesDown(store, index, from, until),
      up: (from, until) => entriesUp(store, index, from, until),
    };
  };
  const orders: (Order | null)[] = [];
  const places = [
    { index: `fundedAt/${funder}`, at: time },
    { index: `registeredAt/${funder}`, at: block },
  ];
  forEachRow(places, ({ index, at }) => orders.push(add(index, at)));
  const [byTime = null, byBlock = null] = orders;
  return { byTime, byBlock };
}

function orderOf(all: readonly Funded[], by: "time" | "block"): Order {
  const between = (low: number, high: number): Entry[] =>
    all.filter((it) => it[by] >= low && it[by] <= high).map((it) => ({ at: it[by], member: it.agent }));
  return {
    down: (at, until) => between(until, at).sort((a, b) => b.at - a.at),
    up: (at, until) => between(at, until).sort((a, b) => a.at - b.at),
  };
}

function formatFunded({ agent, time, block }: Funded): string {
  return `${agent} ${time} ${block}`;
}

function parseFunded(value: string): Funded[] {
  return value.split(",").map((it) => {
    const [agent, time, block] = it.split(" ") as [string, string, string];
    return { agent, time: Number(time), block: Number(block) };
  });
}
