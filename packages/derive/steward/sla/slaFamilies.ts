import { append } from "../../lists.ts";
import { addNumber, removeNumber, selectNumbers } from "../../orderedSet.ts";
import type { Store } from "../../store.ts";
import type { Row } from "../../tables.ts";
import { isBeyond, isLatency } from "./terms.ts";

/** A breach needs bad figures from at least this many families of buyers. */
export const MIN_FAMILIES = 3;

/** What one hire adds to its day. */
export type SlaPart = { ok: number; failed: number; latency: number | null };

type Day = Row<"slaDay">;

/**
 * Notes that a hire of a family of buyers changed from `was` to `is`. The row of a day names at most `MIN_FAMILIES`
 * families with bad figures, because more are not needed for a breach. So a check of a day costs the same for any
 * number of hires. All families are stored too: if a named family becomes good, another bad one takes its place.
 *
 * @returns the columns of the day's row that changed
 */
export function noteFamily(store: Store, day: Day, family: string, was: SlaPart, is: SlaPart): Partial<Day> {
  const id = `${day.id}/${family}`;
  const known = store.get("slaFamily", id);
  const before: Row<"slaFamily"> = known ?? { id, ok: 0, failed: 0, latencies: 0, slowest: null };
  const set = familyLatenciesOf(id);
  const latencies = before.latencies + changeLatency(store, set, was.latency, is.latency);
  const failed = before.failed + is.failed - was.failed;
  let { slowest } = before;
  if (was.latency !== is.latency) {
    const [highest] = latencies === 0 ? [] : selectNumbers(store, set, [latencies - 1]);
    slowest = highest === undefined ? null : Number(highest);
  }
  const change = { ok: before.ok + is.ok - was.ok, failed, latencies, slowest };
  if (known === null) {
    store.insert("slaFamily", { id, ...change });
    append(store, slaFamiliesOf(day.id), family);
  } else store.update("slaFamily", id, change);
  return {
    ...(before.failed > 0 !== failed > 0 && changeFailing(store, day, family, failed > 0)),
    ...(before.slowest !== slowest &&
      changeSlowest(store, day, family, { from: before.slowest, to: slowest })),
  };
}

/** The list of the families of buyers of a day, `<agent>/<day>`. */
export function slaFamiliesOf(day: string): string {
  return `slaFamilies/${day}`;
}

/** The ordered set of the latencies of one family on one day, `<agent>/<day>/<family>`. */
export function familyLatenciesOf(familyDay: string): string {
  return `slaLatencyOf/${familyDay}`;
}

/** Moves a latency within an ordered set of latencies. Returns by how much the set grew. */
export function changeLatency(store: Store, set: string, was: number | null, is: number | null): number {
  if (was === is) return 0;
  if (was !== null) removeNumber(store, set, BigInt(was));
  if (is !== null) addNumber(store, set, BigInt(is));
  return (is === null ? 0 : 1) - (was === null ? 0 : 1);
}

/** The families that a day names as having figures beyond a guarantee's threshold. */
export function badFamilies(guarantee: Row<"guarantee">, { failing, slowest }: Day): string[] {
  if (!isLatency(guarantee)) return wordsOf(failing);
  return slowestOf(slowest)
    .filter(({ ms }) => isBeyond(guarantee, { n: BigInt(ms), d: 1n }, guarantee.threshold))
    .map(({ family }) => family);
}

function changeFailing(
  store: Store,
  { id, failingFamilies, failing }: Day,
  family: string,
  isFailing: boolean,
): Partial<Day> {
  const set = `slaFailing/${id}`;
  const named = wordsOf(failing);
  if (isFailing) {
    addNumber(store, set, BigInt(family));
    const isRoom = named.length < MIN_FAMILIES;
    return { failingFamilies: failingFamilies + 1, ...(isRoom && { failing: [...named, family].join(" ") }) };
  }
  removeNumber(store, set, BigInt(family));
  const left = failingFamilies - 1;
  if (!named.includes(family)) return { failingFamilies: left };
  const ranks = Array.from({ length: Math.min(left, MIN_FAMILIES) }, (_, n) => n);
  const families = selectNumbers(store, set, ranks);
  return { failingFamilies: left, failing: families.map(addressOf).join(" ") };
}

function changeSlowest(
  store: Store,
  { id, slowFamilies, slowest }: Day,
  family: string,
  { from, to }: { from: number | null; to: number | null },
): Partial<Day> {
  const set = `slaSlowest/${id}`;
  if (from !== null) removeNumber(store, set, slownessOf(family, from));
  if (to !== null) addNumber(store, set, slownessOf(family, to));
  const left = slowFamilies + (from === null ? 1 : 0) - (to === null ? 1 : 0);
  const ranks = Array.from({ length: Math.min(left, MIN_FAMILIES) }, (_, n) => left - 1 - n);
  const named = selectNumbers(store, set, ranks);
  const text = named.map((it) => `${addressOf(it & ADDRESS)}:${it >> ADDRESS_BITS}`).join(" ");
  return { slowFamilies: left, ...(text !== slowest && { slowest: text }) };
}

const ADDRESS_BITS = 160n;
const ADDRESS = (1n << ADDRESS_BITS) - 1n;

/** Makes one number of a family and its highest latency. Such numbers are in the order of the latencies. */
function slownessOf(family: string, ms: number): bigint {
  return (BigInt(ms) << ADDRESS_BITS) | BigInt(family);
}

function addressOf(number: bigint): string {
  return `0x${number.toString(16).padStart(40, "0")}`;
}

function slowestOf(text: string): { family: string; ms: number }[] {
  return wordsOf(text).map((word) => {
    const [family, ms] = word.split(":") as [string, string];
    return { family, ms: Number(ms) };
  });
}

function wordsOf(text: string): string[] {
  return text === "" ? [] : text.split(" ");
}
