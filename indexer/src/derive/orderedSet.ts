import type { Store } from "./store.ts";

/**
 * A set of numbers with repetition, whose n-th smallest is found without scanning: a tree of counts by length in bytes,
 * then by each byte from the highest. Adding, removing and selecting cost one row for each byte of the number.
 */
export async function addNumber(store: Store, set: string, value: bigint): Promise<void> {
  await change(store, set, value, 1);
}

export async function removeNumber(store: Store, set: string, value: bigint): Promise<void> {
  await change(store, set, value, -1);
}

/** The number at `rank`, counted from 0 in ascending order; the set must have more than `rank` numbers. */
export async function selectNumber(store: Store, set: string, rank: number): Promise<bigint> {
  let left = rank;
  let prefix = "";
  let length: number | null = null;
  while (length === null || prefix.length < 2 * length) {
    const counts = await countsAt(store, nodeId(set, length, prefix));
    const digit = [...counts.keys()].sort().find((it) => {
      const count = counts.get(it) ?? 0;
      if (left < count) return true;
      left -= count;
      return false;
    });
    if (digit === undefined) throw new Error(`The set ${set} has no number of rank ${rank}.`);
    if (length === null) length = Number.parseInt(digit, 16);
    else prefix += digit;
  }
  return BigInt(`0x${prefix}`);
}

async function change(store: Store, set: string, value: bigint, by: 1 | -1): Promise<void> {
  const hex = value.toString(16);
  const digits = hex.length % 2 === 0 ? hex : `0${hex}`;
  const length = digits.length / 2;
  await changeCount(store, nodeId(set, null, ""), length.toString(16).padStart(2, "0"), by);
  for (let n = 0; n < digits.length; n += 2) {
    await changeCount(store, nodeId(set, length, digits.slice(0, n)), digits.slice(n, n + 2), by);
  }
}

async function changeCount(store: Store, id: string, digit: string, by: number): Promise<void> {
  const row = await store.get("orderedNode", id);
  const counts = parseCounts(row?.counts ?? "");
  const count = (counts.get(digit) ?? 0) + by;
  if (count === 0) counts.delete(digit);
  else counts.set(digit, count);
  const text = [...counts].map(([key, value]) => `${key}:${value}`).join(",");
  if (row === null) await store.insert("orderedNode", { id, counts: text });
  else await store.update("orderedNode", id, { counts: text });
}

async function countsAt(store: Store, id: string): Promise<Map<string, number>> {
  return parseCounts((await store.get("orderedNode", id))?.counts ?? "");
}

function parseCounts(text: string): Map<string, number> {
  if (text === "") return new Map();
  return new Map(text.split(",").map((pair) => [pair.slice(0, 2), Number(pair.slice(3))]));
}

function nodeId(set: string, length: number | null, prefix: string): string {
  return length === null ? set : `${set}/${length}/${prefix}`;
}
