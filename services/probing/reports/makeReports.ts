import type { Address } from "tallystick-protocol/address";
import { canonicalBody, type RecordBody } from "tallystick-protocol/json/recordBody";
import { MAX_HOSTS_OF_AGENT, MAX_PROBED_HOSTS, type Uptime } from "tallystick-protocol/records/uptime";
import type { Hour } from "../observations/hourBook.ts";

/**
 * The most bytes of one part. Settlement accepts 65,536 bytes, including the signature and the fields around the
 * body.
 */
const MAX_PART_BYTES = 60_000;

/** The size of a part without its hosts and agents. */
const FRAME_BYTES = 400;

type Part = {
  hosts: Map<string, [number, number]>;
  served: Map<string, string[]>;
  bytes: number;
};

/**
 * Makes the bodies of an hour's `uptime` records. Hosts are in order, and each part has a limited number of
 * hosts and bytes. An hour without observations has no record.
 */
export function makeReports(hour: number, region: string, { looks, served }: Hour): RecordBody[] {
  const parts: Part[] = [];
  for (const [host, { looked, down }] of sorted(looks)) {
    const bytes = host.length + 16;
    const last = parts.at(-1);
    const part = last && hasRoom(last, last.hosts, bytes) ? last : added(parts);
    part.hosts.set(host, [looked, down]);
    part.bytes += bytes;
  }
  for (const [agent, hosts] of servedInPieces(served)) {
    const bytes = agent.length + 8 + hosts.reduce((sum, host) => sum + host.length + 3, 0);
    const free = parts.find((it) => !it.served.has(agent) && hasRoom(it, it.served, bytes));
    const part = free ?? added(parts);
    part.served.set(agent, hosts);
    part.bytes += bytes;
  }
  return parts.map(({ hosts, served: agents }, part) => {
    const body = { hour, region, part, hosts: Object.fromEntries(hosts), served: Object.fromEntries(agents) };
    if (canonicalBody(body).length > MAX_PART_BYTES)
      throw new Error(`part ${part} of hour ${hour} is too large`);
    return body;
  });
}

/** The hour of reports that {@link makeReports} made. */
export function hourOfReports(bodies: readonly RecordBody[]): Hour {
  const seen: Hour = { looks: new Map(), served: new Map() };
  for (const { hosts, served } of bodies as unknown as readonly Uptime[]) {
    for (const [host, [looked, down]] of Object.entries(hosts)) seen.looks.set(host, { looked, down });
    for (const [agent, of] of Object.entries(served) as [Address, string[]][])
      seen.served.set(agent, new Set([...(seen.served.get(agent) ?? []), ...of]));
  }
  return seen;
}

function added(parts: Part[]): Part {
  const part: Part = { hosts: new Map(), served: new Map(), bytes: FRAME_BYTES };
  parts.push(part);
  return part;
}

function hasRoom(part: Part, { size }: { size: number }, bytes: number): boolean {
  return size < MAX_PROBED_HOSTS && part.bytes + bytes <= MAX_PART_BYTES;
}

/** Splits the agents and their hosts into pieces that fit into a record. */
function* servedInPieces(served: Hour["served"]): Generator<[Address, string[]]> {
  for (const [agent, hosts] of sorted(served)) {
    const all = [...hosts].sort();
    for (let at = 0; at < all.length; at += MAX_HOSTS_OF_AGENT)
      yield [agent, all.slice(at, at + MAX_HOSTS_OF_AGENT)];
  }
}

function sorted<Key extends string, Value>(map: Map<Key, Value>): [Key, Value][] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}
