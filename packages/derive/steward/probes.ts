import type { Uptime } from "tallystick-protocol/records/uptime";
import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";
import { HOUR } from "./days.ts";
import { linesOf } from "./sla/lines.ts";

/** How long after the end of an hour its reports are accepted. Then the hour closes. */
export const REPORT_SECONDS = 7_200;

/**
 * If a prober finds more than half of its sellers' hosts down at once, the prober itself counts as cut off.
 * This needs at least this many sellers' hosts that were up before (T029).
 */
const VOID_HOSTS = 20;

/**
 * If a prober finds that a host serves a seller, the host counts as a seller's host for this many hours. A host
 * counts as serving an agent for the same time.
 */
const SELLER_HOURS = 168;

/** How long reports are kept: until every agent has surely used their hour. */
const KEPT_SECONDS = REPORT_SECONDS + 3 * HOUR;

/**
 * A prober's report on a host for one hour. `wasUp`: the host was up before, so it can help to show that the
 * prober is cut off.
 */
export type Report = { hour: number; prober: string; looked: number; down: number; wasUp: boolean };

export function hourEnd(hour: number): number {
  return (hour + 1) * HOUR;
}

/** Stores a prober's report of one hour. For each prober, hour and host only the first report counts. */
export function hostsProbed(context: ApplyContext, prober: string, { hour, hosts }: Uptime): void {
  const id = `${prober}/${hour}`;
  const row = context.store.get("probedHour", id);
  const looked = parseCounts(row?.looked);
  const down = parseCounts(row?.down);
  const voidBefore = voidSlots(context, prober, hour - 1);
  for (const [host, [saw, foundDown]] of Object.entries(hosts)) {
    const known = context.store.get("probedHost", host);
    const reports = parseReports(known?.reports);
    if (reports.some((it) => it.hour === hour && it.prober === prober)) continue;
    const before = reports.find((it) => it.hour === hour - 1 && it.prober === prober);
    const wasUp = before !== undefined && isUp(before, voidBefore);
    const kept = reports.filter((it) => hourEnd(it.hour) + KEPT_SECONDS > context.state.time);
    kept.push({ hour, prober, looked: saw, down: foundDown, wasUp });
    const text = formatReports(kept);
    if (known === null) context.store.insert("probedHost", { id: host, reports: text, sellers: "" });
    else context.store.update("probedHost", host, { reports: text });
    if (wasUp && standsForSeller(known, prober, hour)) count(looked, down, saw, foundDown);
  }
  const counts = { looked: looked.join(","), down: down.join(",") };
  if (row === null) context.store.insert("probedHour", { id, ...counts });
  else context.store.update("probedHour", id, counts);
}

/**
 * Notes that a prober found a host that serves an agent with sales. Only such hosts can show that a prober is
 * cut off. Anybody can set up many other hosts and take them down at once.
 */
export function noteSellerHost(context: ApplyContext, prober: string, host: string, hour: number): void {
  const row = context.store.get("probedHost", host);
  const lines = linesOf(row?.sellers).filter((line) => !line.startsWith(`${prober} `));
  const sellers = [...lines, `${prober} ${Math.max(hour, lastFound(row, prober) ?? hour)}`].join("\n");
  if (row === null) context.store.insert("probedHost", { id: host, reports: "", sellers });
  else if (row.sellers !== sellers) context.store.update("probedHost", host, { sellers });
}

/** Whether a host counts as a seller's host at an hour, because the prober found this in the last days. */
function standsForSeller(row: Row<"probedHost"> | null, prober: string, hour: number): boolean {
  const last = lastFound(row, prober);
  return last !== null && hour < last + SELLER_HOURS;
}

/** The last hour in which a prober found that a host serves a seller. */
function lastFound(row: Row<"probedHost"> | null, prober: string): number | null {
  const line = linesOf(row?.sellers).find((it) => it.startsWith(`${prober} `));
  return line === undefined ? null : Number(line.slice(prober.length + 1));
}

/**
 * Whether a host was up in every slot in which the prober looked and was not cut off. If the prober was cut
 * off all the time, the previous state stays.
 */
function isUp({ looked, down, wasUp }: Report, away: number): boolean {
  const seen = looked & ~away;
  if (seen === 0) return looked !== 0 && wasUp;
  return (down & seen) === 0;
}

function count(looked: number[], down: number[], saw: number, foundDown: number): void {
  for (let slot = 0; slot < 12; slot++) {
    looked[slot] = (looked[slot] ?? 0) + ((saw >> slot) & 1);
    down[slot] = (down[slot] ?? 0) + ((foundDown >> slot) & 1);
  }
}

/** The slots of an hour in which a prober was cut off, as bits. */
export function voidSlots(context: ApplyContext, prober: string, hour: number): number {
  const row = context.store.get("probedHour", `${prober}/${hour}`);
  if (row === null) return 0;
  const [looked, down] = [parseCounts(row.looked), parseCounts(row.down)];
  let bits = 0;
  for (let slot = 0; slot < 12; slot++) {
    const [all = 0, away = 0] = [looked[slot], down[slot]];
    if (all >= VOID_HOSTS && 2 * away > all) bits |= 1 << slot;
  }
  return bits;
}

/**
 * The joint result of all probers for a host: who looked, which slots have data, and in which the host was
 * down.
 */
export type Verdict = { lookers: ReadonlySet<string>; data: number; down: number };

/**
 * A slot is down if more than half of the probers that looked found it down. If none looked, the slot has no
 * data.
 */
export function verdictOf(reports: readonly Pick<Report, "prober" | "looked" | "down">[]): Verdict {
  const lookers = new Set<string>();
  for (const { prober, looked } of reports) if (looked !== 0) lookers.add(prober);
  let [data, down] = [0, 0];
  for (let slot = 0; slot < 12; slot++) {
    let [looked, found] = [0, 0];
    for (const report of reports) {
      looked += (report.looked >> slot) & 1;
      found += (report.down >> slot) & 1;
    }
    if (looked > 0) data |= 1 << slot;
    if (2 * found > looked) down |= 1 << slot;
  }
  return { lookers, data, down };
}

function parseCounts(text = ""): number[] {
  return text === "" ? new Array<number>(12).fill(0) : text.split(",").map(Number);
}

export function parseReports(text?: string): Report[] {
  return reportsOf(text, 0, Number.MAX_SAFE_INTEGER);
}

/** The reports of the hours from `from` to `to`, both included. */
export function reportsOf(text: string | undefined, from: number, to: number): Report[] {
  const reports: Report[] = [];
  if (text === undefined) return reports;
  // Most lines are of other hours. They are skipped and not taken apart, because a tick reads the lines of many
  // hosts.
  for (let at = 0; at < text.length; ) {
    const next = text.indexOf("\n", at);
    const end = next < 0 ? text.length : next;
    const space = text.indexOf(" ", at);
    const hour = Number(text.slice(at, space));
    if (hour >= from && hour <= to) {
      const words = text.slice(space + 1, end).split(" ");
      const [prober, looked, down, wasUp] = words as [string, string, string, string];
      reports.push({ hour, prober, looked: Number(looked), down: Number(down), wasUp: wasUp === "1" });
    }
    at = end + 1;
  }
  return reports;
}

function formatReports(reports: readonly Report[]): string {
  return reports
    .map(({ hour, prober, looked, down, wasUp }) => `${hour} ${prober} ${looked} ${down} ${wasUp ? 1 : 0}`)
    .join("\n");
}
