import type { ApplyContext } from "../applyContext.ts";
import type { Row } from "../tables.ts";
import { formatClaims, parseClaims } from "./claimedUp.ts";
import { HOUR } from "./days.ts";
import { REPORT_SECONDS, type Report, reportsOf, verdictOf, voidSlots } from "./probes.ts";
import { hostsAt, parseServices } from "./served.ts";
import { formatRun, formatSlotDays, parseRun, parseSlotDays, type SlotDay, takeHour } from "./slotDays.ts";

/** The last hour that is closed at a time. An hour closes two hours after its end. */
export function lastClosedHour(time: number): number {
  return Math.ceil((time - REPORT_SECONDS) / HOUR) - 2;
}

/** Results that many agents need in the same tick. */
export type ProbeCache = Map<string, number>;

/**
 * Processes the slots of all hours that closed since the agent's last computation, for the hosts that served it in
 * those hours. In each slot the worst of these hosts counts.
 *
 * @returns the changes of the row, and its new days
 */
export function takeSlots(
  context: ApplyContext,
  row: Row<"steward">,
  away: ProbeCache,
): { change: Partial<Row<"steward">>; days: SlotDay[] } {
  const closed = lastClosedHour(context.at.time);
  const days = parseSlotDays(row.slots);
  if (row.served === "" && row.claims === "") return { change: { mergedHour: closed }, days };
  const services = parseServices(row.served);
  const reports = new Map<string, Report[]>();
  const hours = new Set<number>();
  for (const { host } of services) {
    if (reports.has(host)) continue;
    const known = context.store.get("probedHost", host);
    const open = reportsOf(known?.reports, (row.mergedHour ?? -1) + 1, closed);
    reports.set(host, open);
    for (const { hour } of open) hours.add(hour);
  }
  const claims = parseClaims(row.claims);
  const left = formatClaims(claims.filter((it) => it.hour > closed));
  if (hours.size === 0) return { change: { mergedHour: closed, claims: left }, days };

  const run = parseRun(row.run);
  for (const hour of [...hours].sort((a, b) => a - b)) {
    const slots = { data: 0, down: 0, denied: 0 };
    for (const [host, probers] of hostsAt(services, hour)) {
      const seen: Report[] = [];
      for (const report of reports.get(host) ?? []) {
        if (report.hour !== hour) continue;
        const key = `${report.prober}/${hour}`;
        const known = away.get(key) ?? voidSlots(context, report.prober, hour);
        away.set(key, known);
        seen.push({ ...report, looked: report.looked & ~known, down: report.down & ~known });
      }
      const { lookers, data, down } = verdictOf(seen);
      // A single prober must not assign a host to an agent if other probers looked and found no service
      // there.
      if (2 * probers.filter((it) => lookers.has(it)).length <= lookers.size) continue;
      slots.data |= data;
      slots.down |= down;
      const claim = claims.find((it) => it.hour === hour && it.host === host);
      slots.denied |= down & (claim?.up ?? 0);
    }
    takeHour(days, run, hour, slots);
  }
  const change = { mergedHour: closed, claims: left, slots: formatSlotDays(days), run: formatRun(run) };
  return { change, days };
}
