import type { Store } from "./store.ts";

/**
 * A set of numbers with repetition, whose n-th smallest is found without scanning. While it never held more than `SMALL`
 * numbers it is one row, `=` and the numbers in ascending order. Then it becomes a tree of counts by length in bytes, then
 * by each byte from the highest. Adding, removing and selecting cost one row for each byte of the number.
 */
const SMALL = 64;

export function addNumber(store: Store, set: string, value: bigint): void {
  const row = store.get("orderedNode", set);
  if (row === null) {
    store.insert("orderedNode", { id: set, counts: `=${value}` });
    return;
  }
  const numbers = parseSmall(row.counts);
  if (numbers === null) {
    change(store, set, value, 1);
    return;
  }
  numbers.splice(placeOf(numbers, value), 0, value);
  if (numbers.length <= SMALL) {
    store.update("orderedNode", set, { counts: formatSmall(numbers) });
    return;
  }
  store.update("orderedNode", set, { counts: "" });
  for (const number of numbers) change(store, set, number, 1);
}

/** Removes one of the numbers equal to `value`, which must be in the set. */
export function removeNumber(store: Store, set: string, value: bigint): void {
  const numbers = parseSmall(store.get("orderedNode", set)?.counts ?? "");
  if (numbers === null) {
    change(store, set, value, -1);
    return;
  }
  const place = placeOf(numbers, value);
  if (numbers[place] !== value) throw new Error(`The set ${set} has no number ${value}.`);
  numbers.splice(place, 1);
  store.update("orderedNode", set, { counts: formatSmall(numbers) });
}

/** The numbers at `ranks`, counted from 0 in ascending order; the set must have more numbers than each. */
export function selectNumbers(store: Store, set: string, ranks: number[]): bigint[] {
  const numbers = parseSmall(store.get("orderedNode", set)?.counts ?? "");
  const selected: bigint[] = [];
  for (const rank of ranks) {
    const number = numbers === null ? selectInTree(store, set, rank) : numbers[rank];
    if (number === undefined) throw noSuchRank(set, rank);
    selected.push(number);
  }
  return selected;
}

function noSuchRank(set: string, rank: number): Error {
  return new Error(`The set ${set} has no number of rank ${rank}.`);
}

/** The numbers of a set that is one row; null when it is a tree. */
function parseSmall(text: string): bigint[] | null {
  if (!text.startsWith("=")) return null;
  return text.length === 1 ? [] : text.slice(1).split(",").map(BigInt);
}

function formatSmall(numbers: bigint[]): string {
  return `=${numbers.join(",")}`;
}

/** How many numbers are below `value`. */
function placeOf(numbers: bigint[], value: bigint): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((numbers[middle] as bigint) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

function selectInTree(store: Store, set: string, rank: number): bigint {
  let left = rank;
  let prefix = "";
  let length: number | null = null;
  while (length === null || prefix.length < 2 * length) {
    const counts = countsAt(store, nodeId(set, length, prefix));
    const found = counts.find(([, count]) => {
      if (left < count) return true;
      left -= count;
      return false;
    });
    if (found === undefined) throw noSuchRank(set, rank);
    if (length === null) length = Number.parseInt(found[0], 16);
    else prefix += found[0];
  }
  return BigInt(`0x${prefix}`);
}

function change(store: Store, set: string, value: bigint, by: 1 | -1): void {
  const hex = value.toString(16);
  const digits = hex.length % 2 === 0 ? hex : `0${hex}`;
  const length = digits.length / 2;
  changeCount(store, nodeId(set, null, ""), length.toString(16).padStart(2, "0"), by);
  for (let n = 0; n < digits.length; n += 2) {
    changeCount(store, nodeId(set, length, digits.slice(0, n)), digits.slice(n, n + 2), by);
  }
}

function changeCount(store: Store, id: string, digit: string, by: number): void {
  const row = store.get("orderedNode", id);
  const counts = parseCounts(row?.counts ?? "");
  let place = counts.findIndex(([it]) => it >= digit);
  if (place < 0) place = counts.length;
  const known = counts[place];
  if (known === undefined || known[0] !== digit) counts.splice(place, 0, [digit, by]);
  else if (known[1] + by === 0) counts.splice(place, 1);
  else known[1] += by;
  const text = counts.map(([key, value]) => `${key}:${value}`).join(",");
  if (row === null) store.insert("orderedNode", { id, counts: text });
  else store.update("orderedNode", id, { counts: text });
}

function countsAt(store: Store, id: string): [digit: string, count: number][] {
  return parseCounts(store.get("orderedNode", id)?.counts ?? "");
}

/** `<two hex digits>:<count>`, in ascending order of the digits. */
function parseCounts(text: string): [digit: string, count: number][] {
  if (text === "") return [];
  return text.split(",").map((pair) => [pair.slice(0, 2), Number(pair.slice(3))]);
}

function nodeId(set: string, length: number | null, prefix: string): string {
  return length === null ? set : `${set}/${length}/${prefix}`;
}
