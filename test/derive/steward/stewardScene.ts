import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { EventLog, HOUR, START, wallet } from "../eventLog.ts";

export const [AGENT, BUYER, OPERATOR, ATTESTOR, ARBITRATOR] = [1, 2, 20, 21, 22].map(wallet) as [
  Address,
  Address,
  Address,
  Address,
  Address,
];
export const PROBERS = [30, 31, 32, 33].map(wallet);
export const HOST = "agent.example:443";
/** The hour in which logs begin. */
export const FIRST_HOUR = START / HOUR;
const HASH: Hex = `0x${"a1".repeat(32)}`;

/** A log with an agent that lists something, and this many probers. */
export function stewardLog({
  probers = 1,
  ...params
}: {
  probers?: number;
  [param: string]: unknown;
} = {}): EventLog {
  const log = new EventLog({
    operator: OPERATOR,
    steward: { attestors: [ATTESTOR], probers: PROBERS.slice(0, probers), arbitrators: [ARBITRATOR] },
    ...params,
  });
  log.listing(AGENT, "text.translate");
  return log;
}

/** Moves to a time. */
export function goTo(log: EventLog, time: number): EventLog {
  return log.after(time - log.time);
}

/** Bits of slots, from a text with a sign for each slot: `1` host up, `0` host down, `.` no look. The first slot comes first. */
export function slots(text: string): [looked: number, down: number] {
  let [looked, down] = [0, 0];
  for (const [slot, sign] of [...text].entries()) {
    if (sign !== ".") looked |= 1 << slot;
    if (sign === "0") down |= 1 << slot;
  }
  return [looked, down];
}

export const UP = slots("1".repeat(12));
export const DOWN = slots("0".repeat(12));

type Report = {
  hosts?: { [host: string]: [number, number] };
  served?: { [agent: string]: string[] };
  part?: number;
};

/** A prober's report, sent now. `hour` counts from the log's first hour. */
export function report(
  log: EventLog,
  prober: Address,
  hour: number,
  { hosts = {}, served, part = 0 }: Report = {},
) {
  return log.record("uptime", prober, {
    hour: FIRST_HOUR + hour,
    region: "eu",
    part,
    hosts,
    served: served ?? { [AGENT]: [HOST] },
  });
}

/**
 * Reports of all probers about the agent's host: one for each hour, right after the hour. All probers report the same.
 */
export function hoursOf(log: EventLog, hours: string[], { probers = 1, from = 0 } = {}): EventLog {
  for (const [n, text] of hours.entries()) {
    goTo(log, START + (from + n + 1) * HOUR + 1);
    for (const prober of PROBERS.slice(0, probers))
      report(log, prober, from + n, { hosts: { [HOST]: slots(text) } });
  }
  return log;
}

/** Adds a tick after all reported hours are closed and counted. */
export function close(log: EventLog): EventLog {
  return log.after(3 * HOUR + 300).tick();
}

/** An agent with one sale for each host. Returns the agents with their hosts, in the form of `served` in a report. */
export function sellersOf(
  log: EventLog,
  hosts: readonly string[],
  from = 700,
): { [agent: string]: string[] } {
  return Object.fromEntries(
    hosts.map((host, n) => {
      const seller = host === HOST ? AGENT : wallet(from + n);
      log.hire(seller, BUYER);
      return [seller, [host]];
    }),
  );
}

export function attest(
  log: EventLog,
  { by = AGENT, runs, ...more }: RecordBody & { by?: Address } = {},
): string {
  return log.record("attestation", by, {
    agent_id: AGENT,
    version: "1.0.0",
    commit: "ab".repeat(20),
    runs: runs ?? [testRun({ seed: "1" }), testRun({ seed: "2" })],
    ran_at: log.time,
    ...more,
  });
}

export function testRun(more: RecordBody = {}): RecordBody {
  return { passing: 369, total: 383, flaky: 0, report_hash: HASH, outcomes_hash: HASH, ...more };
}

export function endorse(log: EventLog, endorser: Address, agent: Address, more: RecordBody = {}): string {
  return log.record("endorsement", endorser, {
    endorser,
    agent_id: agent,
    issued_at: log.time,
    agent_signature: "0x01",
    ...more,
  });
}

export type Steward = Row<"steward">;

/** The row of an agent after the whole log. */
export async function stewardOf(log: EventLog, agent: Address = AGENT): Promise<Steward> {
  const { store } = await log.derive();
  const row = store.rows("steward").get(agent);
  if (row === undefined) throw new Error(`${agent} has no row`);
  return row;
}

/** How many slots of 30 days have data, count as downtime, and were found down. */
export async function monthOf(log: EventLog, agent: Address = AGENT): Promise<number[]> {
  return ((await stewardOf(log, agent)).slotSums.split(" ")[1] ?? "").split(":").map(Number);
}

/** The reasons why the records of a type do not count. */
export async function reasonsOf(log: EventLog, type: string): Promise<(string | null)[]> {
  const { store } = await log.derive();
  return [...store.rows("record").values()].filter((it) => it.type === type).map(({ reason }) => reason);
}
