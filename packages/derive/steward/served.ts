import { MAX_HOSTS_OF_AGENT, type Uptime } from "tallystick-protocol/records/uptime";
import type { ApplyContext } from "../applyContext.ts";
import { noteSellerHost } from "./probes.ts";
import { ensureSteward } from "./stewardRow.ts";

/** If a prober finds that a host serves an agent, the host counts as serving it for this many hours (seven days). */
const SERVED_HOURS = 168;

/** The hours during which a prober found that a host serves an agent, without a gap of seven days. */
export type Service = { host: string; prober: string; from: number; to: number };

/** Stores which agents a prober found at which hosts. Addresses that are not agents are skipped. */
export function servicesProbed(context: ApplyContext, prober: string, { hour, served }: Uptime): void {
  for (const [agent, hosts] of Object.entries(served).sort(([a], [b]) => (a < b ? -1 : 1))) {
    const row = ensureSteward(context, agent);
    if (row === null) continue;
    const services = parseServices(row.served).filter((it) => isFresh(it, hour - SERVED_HOURS));
    for (const host of hosts) noteService(services, host, prober, hour);
    // Each seller counts for one host only, the first by name, so that one sale does not count for many
    // hosts.
    const [first] = [...hosts].sort();
    if (row.sales > 0 && first !== undefined) noteSellerHost(context, prober, first, hour);
    context.store.update("steward", agent, { served: formatServices(services) });
  }
}

function noteService(services: Service[], host: string, prober: string, hour: number): void {
  const known = services.find((it) => it.host === host && it.prober === prober && isFresh(it, hour));
  if (known !== undefined) {
    known.from = Math.min(known.from, hour);
    known.to = Math.max(known.to, hour);
    return;
  }
  // An earlier service that is over is kept too, because some hours may still wait for their tick.
  const own = services.filter((it) => it.prober === prober && isFresh(it, hour));
  if (own.length < MAX_HOSTS_OF_AGENT) services.push({ host, prober, from: hour, to: hour });
}

/** Whether a service still holds at an hour. */
function isFresh({ to }: Service, hour: number): boolean {
  return hour < to + SERVED_HOURS;
}

/** The hosts of an hour, each with the probers that found it to serve the agent. */
export function hostsAt(services: readonly Service[], hour: number): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const it of services) {
    if (hour < it.from || !isFresh(it, hour)) continue;
    const probers = hosts.get(it.host);
    if (probers === undefined) hosts.set(it.host, [it.prober]);
    else if (!probers.includes(it.prober)) probers.push(it.prober);
  }
  return hosts;
}

export function parseServices(text: string): Service[] {
  if (text === "") return [];
  return text.split("\n").map((line) => {
    const [host, prober, from, to] = line.split(" ") as [string, string, string, string];
    return { host, prober, from: Number(from), to: Number(to) };
  });
}

function formatServices(services: readonly Service[]): string {
  return services.map(({ host, prober, from, to }) => `${host} ${prober} ${from} ${to}`).join("\n");
}
