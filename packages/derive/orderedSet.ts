import { flat } from "./flat.ts";
import { forEachRow } from "./loadedRows.ts";
import type { Store } from "./store.ts";

/**
 * A set of numbers that may contain a number several times. Its n-th smallest number is found without a scan.
 * As long as it has never held more than `SMALL` numbers, it is one row: `=` and the numbers in ascending
 * order. Then it becomes a tree of counts, first by length in bytes, then by each byte from the highest.
 * To add, remove or select a number then takes one row for each byte of the number.
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
  const number = String(value);
  numbers.splice(placeOf(numbers, number), 0, number);
  if (numbers.length <= SMALL) {
    store.put("orderedNode", { id: set, counts: formatSmall(numbers) });
    return;
  }
  store.put("orderedNode", { id: set, counts: "" });
  for (const it of numbers) change(store, set, BigInt(it), 1);
}

/** Removes one of the numbers equal to `value`, which must be in the set. */
export function removeNumber(store: Store, set: string, value: bigint): void {
  const numbers = parseSmall(store.get("orderedNode", set)?.counts ?? "");
  if (numbers === null) {
    change(store, set, value, -1);
    return;
  }
  const number = String(value);
  const place = placeOf(numbers, number);
  if (numbers[place] !== number) throw new Error(`The set ${set} has no number ${value}.`);
  numbers.splice(place, 1);
  store.put("orderedNode", { id: set, counts: formatSmall(numbers) });
}

/** The numbers at `ranks`, counted from 0 in ascending order; the set must have more numbers than each. */
export function selectNumbers(store: Store, set: string, ranks: number[]): bigint[] {
  const numbers = parseSmall(store.get("orderedNode", set)?.counts ?? "");
  const selected: bigint[] = [];
  for (const rank of ranks) {
    const number = numbers === null ? selectInTree(store, set, rank) : numbers[rank];
    if (number === undefined) throw noSuchRank([set], rank);
    selected.push(BigInt(number));
  }
  return selected;
}

/**
 * The number at `rank` of several sets together, counted from 0 in ascending order. Reads one row of each
 * set. For each set that is a tree, it reads one more row for each byte of the number.
 */
export function selectAcross(store: Pick<Store, "get">, sets: readonly string[], rank: number): bigint {
  const trees: string[] = [];
  const loose: bigint[] = [];
  for (const set of sets) {
    const numbers = parseSmall(store.get("orderedNode", set)?.counts ?? "");
    if (numbers === null) trees.push(set);
    else loose.push(...numbers.map(BigInt));
  }
  if (trees.length > 0) return selectIn(store, { trees, loose: loose.map(digitsOf) }, rank);
  const number = loose.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0))[rank];
  if (number === undefined) throw noSuchRank(sets, rank);
  return number;
}

function noSuchRank(sets: readonly string[], rank: number): Error {
  return new Error(`The set ${sets.join(", ")} has no number of rank ${rank}.`);
}

/** The numbers of a set that is one row, as decimal digits; null when the set is a tree. */
function parseSmall(text: string): string[] | null {
  if (!text.startsWith("=")) return null;
  return text.length === 1 ? [] : text.slice(1).split(",");
}

function formatSmall(numbers: readonly string[]): string {
  return `=${numbers.join(",")}`;
}

/** How many numbers are below `number`. */
function placeOf(numbers: readonly string[], number: string): number {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isBelow(numbers[middle] ?? "", number)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Compares two whole numbers by their decimal digits. */
function isBelow(a: string, b: string): boolean {
  return a.length === b.length ? a < b : a.length < b.length;
}

/** The same as {@link selectIn} for one tree, whose counts need not be added up with others. */
function selectInTree(store: Pick<Store, "get">, set: string, rank: number): bigint {
  let left = rank;
  let prefix = "";
  let length: number | null = null;
  while (length === null || prefix.length < 2 * length) {
    const found = digitOfRank(store.get("orderedNode", nodeId(set, length, prefix))?.counts ?? "", left);
    if (found === null) throw noSuchRank([set], rank);
    left -= found.below;
    if (length === null) length = Number.parseInt(found.digit, 16);
    else prefix += found.digit;
  }
  return BigInt(`0x${prefix}`);
}

/**
 * Goes down the trees from the length of the number to its last byte. `loose` are the numbers of sets that
 * are no trees, as digits.
 */
function selectIn(
  store: Pick<Store, "get">,
  { trees, loose }: { trees: readonly string[]; loose: readonly string[] },
  rank: number,
): bigint {
  let left = rank;
  let prefix = "";
  let length: number | null = null;
  let candidates = loose;
  while (length === null || prefix.length < 2 * length) {
    const counts = new Map<string, number>();
    const add = (digit: string, count: number) => counts.set(digit, (counts.get(digit) ?? 0) + count);
    const node = { length, prefix };
    forEachRow(trees, (set) => {
      for (const [digit, count] of countsAt(store, nodeId(set, node.length, node.prefix))) add(digit, count);
    });
    const at = prefix.length;
    const digitIn = (digits: string) => (length === null ? lengthDigit(digits) : digits.slice(at, at + 2));
    for (const digits of candidates) add(digitIn(digits), 1);
    const found = [...counts]
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .find(([, count]) => {
        if (left < count) return true;
        left -= count;
        return false;
      });
    if (found === undefined) throw noSuchRank(trees, rank);
    const [digit] = found;
    candidates = candidates.filter((digits) => digitIn(digits) === digit);
    if (length === null) length = Number.parseInt(digit, 16);
    else prefix += digit;
  }
  return BigInt(`0x${prefix}`);
}

function change(store: Store, set: string, value: bigint, by: 1 | -1): void {
  const digits = digitsOf(value);
  const length = digits.length / 2;
  changeCount(store, nodeId(set, null, ""), lengthDigit(digits), by);
  for (let n = 0; n < digits.length; n += 2) {
    changeCount(store, nodeId(set, length, digits.slice(0, n)), digits.slice(n, n + 2), by);
  }
}

/** A number's bytes, two hex digits each. */
function digitsOf(value: bigint): string {
  const hex = value.toString(16);
  return hex.length % 2 === 0 ? hex : `0${hex}`;
}

function lengthDigit(digits: string): string {
  return (digits.length / 2).toString(16).padStart(2, "0");
}

function changeCount(store: Store, id: string, digit: string, by: number): void {
  const counts = store.get("orderedNode", id)?.counts ?? "";
  store.put("orderedNode", { id, counts: flat(withCount(counts, digit, by)) });
}

function countsAt(store: Pick<Store, "get">, id: string): [digit: string, count: number][] {
  return parseCounts(store.get("orderedNode", id)?.counts ?? "");
}

/** `<two hex digits>:<count>`, in ascending order of the digits. */
function parseCounts(text: string): [digit: string, count: number][] {
  if (text === "") return [];
  return text.split(",").map((pair) => [pair.slice(0, 2), Number(pair.slice(3))]);
}

/**
 * The text with another count for one digit. A node may have 256 digits, so the text of all others is copied as it is.
 */
function withCount(text: string, digit: string, by: number): string {
  const start = text.startsWith(digit) ? 0 : text.indexOf(`,${digit}:`) + 1;
  if (start === 0 && !text.startsWith(digit)) return withDigit(text, digit, by);
  const end = endOfPair(text, start);
  const count = countIn(text, start, end) + by;
  if (count !== 0) return `${text.slice(0, start)}${digit}:${count}${text.slice(end)}`;
  return start === 0 ? text.slice(end + 1) : text.slice(0, start - 1) + text.slice(end);
}

/** The text with a new digit at its place. */
function withDigit(text: string, digit: string, count: number): string {
  for (let at = 0; at < text.length; at = endOfPair(text, at) + 1) {
    if (text.slice(at, at + 2) > digit) return `${text.slice(0, at)}${digit}:${count},${text.slice(at)}`;
  }
  return text === "" ? `${digit}:${count}` : `${text},${digit}:${count}`;
}

/** The digit that contains a rank, and the sum of the counts below it. Null beyond the last. */
function digitOfRank(text: string, rank: number): { digit: string; below: number } | null {
  let below = 0;
  for (let at = 0; at < text.length; ) {
    const end = endOfPair(text, at);
    const count = countIn(text, at, end);
    if (rank < below + count) return { digit: text.slice(at, at + 2), below };
    below += count;
    at = end + 1;
  }
  return null;
}

function endOfPair(text: string, start: number): number {
  const comma = text.indexOf(",", start);
  return comma < 0 ? text.length : comma;
}

function countIn(text: string, start: number, end: number): number {
  return Number(text.slice(start + 3, end));
}

function nodeId(set: string, length: number | null, prefix: string): string {
  return length === null ? set : `${set}/${length}/${prefix}`;
}
