import { apply } from "tallystick-derive/apply";
import type { DeriveEvent } from "tallystick-derive/events";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { dayOf } from "tallystick-derive/steward/days";
import { formatSlotDays } from "tallystick-derive/steward/slotDays";
import { Transaction } from "tallystick-derive/transaction";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { canonicalBody, type RecordBody } from "tallystick-protocol/json/recordBody";
import { defineParams } from "tallystick-protocol/records/params";
import { MAX_PROBED_HOSTS } from "tallystick-protocol/records/uptime";
import { sha256HexByNode } from "tallystick-runtime/hashing/sha256HexByNode";

const START = 1_767_225_600;
const HOUR = 3_600;
const SLOT = 300;
const LEDGER: Hex = `0x${"1e".repeat(32)}`;
/** The bytes that an entry adds around a record's body. */
const ENTRY_BYTES = 600;

export type StewardFigures = {
  agents: number;
  probers: number;
  /** Milliseconds of processor time of the ticks of the last hours: the median and the slowest. */
  tick: { median: number; most: number };
  /** The median time of one record of 1,000 hosts, in milliseconds. */
  report: number;
  /** Bytes of ledger that the probers' reports take in a day, in all and for an agent. */
  bytesPerDay: number;
  bytesPerAgent: number;
};

/**
 * Derives hours in which every agent is probed every five minutes, and measures their ticks. Agents have a full
 * history: 91 days of slots, a month of hires, and an attestation. Some endorse others.
 */
export async function measureTicks({
  agents,
  probers,
  hours,
}: {
  agents: number;
  probers: number;
  hours: number;
}): Promise<StewardFigures> {
  const log = new Log();
  const named = Array.from({ length: probers }, (_, n) => wallet(1_000_000 + n));
  await log.add({ kind: "params", params: defineParams({ steward: { probers: named } }) });
  const all = Array.from({ length: agents }, (_, n) => wallet(1 + n));
  for (const [n, agent] of all.entries()) await addAgent(log, agent, all[(n + 1) % agents] ?? agent);
  for (const agent of all) fillHistory(log.store, agent, dayOf(log.time));
  await log.tick();

  const reports: number[] = [];
  const ticks: number[] = [];
  let bytes = 0;
  for (let hour = 0; hour < hours; hour++) {
    for (const prober of named) {
      for (let part = 0; part * MAX_PROBED_HOSTS < agents; part++) {
        const some = all.slice(part * MAX_PROBED_HOSTS, (part + 1) * MAX_PROBED_HOSTS);
        const body = reportOf(some, { hour: Math.floor(log.time / HOUR) - 1, part, first: hour === 0 });
        reports.push(await log.record("uptime", prober, body));
        if (hour > 0) bytes += canonicalBody(body).length + ENTRY_BYTES;
      }
    }
    for (let slot = 0; slot < 12; slot++) {
      log.time += SLOT;
      const took = await log.tick();
      // From this hour on, every tick closes hours of some agents.
      if (hour >= 4) ticks.push(took);
    }
  }
  const bytesPerDay = Math.round((bytes / (hours - 1)) * 24);
  return {
    agents,
    probers,
    tick: { median: middle(ticks), most: Math.max(...ticks) },
    report: middle(reports),
    bytesPerDay,
    bytesPerAgent: Math.round(bytesPerDay / agents),
  };
}

/** Applies events one after the other, and writes the changes of each together, as the indexer does. */
class Log {
  readonly store = new MemoryStore();
  time = START;
  #block = 0;
  #seq = 0;

  async add(event: object): Promise<number> {
    const whole = { block: ++this.#block, time: this.time, log: 0, ...event } as DeriveEvent;
    // Processor time is measured, so that other work of the machine does not count.
    const begun = process.cpuUsage();
    const transaction = new Transaction(this.store);
    apply(transaction, whole, { trustSignatures: true, sha256Hex: sha256HexByNode });
    await transaction.commitTo(this.store);
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1_000;
  }

  record(type: string, signer: Address, fields: RecordBody): Promise<number> {
    const seq = this.#seq++;
    const hash = seq.toString(16).padStart(64, "0");
    const body = type === "listing" ? fields : { type, ledger: LEDGER, ...fields };
    return this.add({ kind: "record", ledger: LEDGER, seq, hash, type, body, signer, signature: "0x01" });
  }

  tick(): Promise<number> {
    return this.add({ kind: "tick" });
  }
}

async function addAgent(log: Log, agent: Address, next: Address): Promise<void> {
  const endpoint = `https://${hostOf(agent)}/hire`;
  const capability = `custom.c${agent.slice(-6)}`;
  await log.record("listing", agent, {
    agent_id: agent,
    capability,
    price_usdc: "1",
    max_latency_ms: 9,
    endpoint,
  });
  const run = { passing: 9, total: 9, flaky: 0, report_hash: LEDGER, outcomes_hash: LEDGER };
  const runs = [run, run];
  const tests = { agent_id: agent, version: "1", commit: "ab".repeat(20), runs, ran_at: log.time };
  await log.record("attestation", agent, tests);
  if (!log.store.get("agent", next)) return;
  const word = { endorser: agent, agent_id: next, issued_at: log.time, agent_signature: "0x01" };
  await log.record("endorsement", agent, word);
}

function fillHistory(store: MemoryStore, agent: string, today: number): void {
  const before = (count: number) => Array.from({ length: count }, (_, n) => today - 1 - count + n);
  const slots = formatSlotDays(before(89).map((day) => ({ day, data: 288, down: 3, raw: 5, denied: 0 })));
  const outcomes = before(30)
    .map((day) => `${day}:40:2`)
    .join(";");
  store.update("steward", agent, { slots, outcomes, sales: 1_260 });
}

function reportOf(
  agents: readonly Address[],
  { hour, part, first }: { hour: number; part: number; first: boolean },
): RecordBody {
  const hosts = Object.fromEntries(agents.map((it) => [`${hostOf(it)}:443`, [4_095, 0]]));
  const served = Object.fromEntries(agents.map((it) => [it, [`${hostOf(it)}:443`]]));
  return { hour, region: "eu-west", part, hosts, served: first ? served : {} };
}

function hostOf(agent: string): string {
  return `agent-${agent.slice(-6)}.example`;
}

function wallet(n: number): Address {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

function middle(values: number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}
