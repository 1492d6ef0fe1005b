import { apply } from "tallystick-derive/apply";
import type { DeriveEvent } from "tallystick-derive/events";
import { MemoryStore } from "tallystick-derive/memoryStore";
import type { Address } from "tallystick-protocol/address";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";

/**
 * Microseconds of processor time per event, over all events and over the first and the last tenth. A cost that
 * grows with the number of past events shows in the ratio of the two tenths.
 */
export type MicroFigures = { name: string; events: number; mean: number; first: number; last: number };

const TOKEN: Address = `0x${"70".repeat(20)}`;
const NOBODY: Address = `0x${"0".repeat(40)}`;
const ESCROW: Address = `0x${"e5".repeat(20)}`;
const LEDGER: Hex = `0x${"1e".repeat(32)}`;
const START = 1_767_225_600;

/**
 * Derivations in memory with the worst inputs that the rules allow. `count` decides the number of events. It is 100,000 in
 * a full run.
 */
export async function microBenches(count: number): Promise<MicroFigures[]> {
  return [
    await funderOfMany(count),
    await funderOfOneBlock(Math.ceil(count / 10)),
    await receiverOfMany(count, "an agent receives the same again and again", () => 1_000_000n),
    // Each transfer is a third of all that the agent has then received, so it is a funding. Token amounts allow 400.
    await receiverOfMany(count, "an agent receives ever more", (n) =>
      n < 400 ? (10n ** 6n * 3n ** BigInt(n)) / 2n ** BigInt(n) : 1n,
    ),
    await listings(count),
    await lookAlikes(Math.ceil(count / 100)),
    await manyListings(),
  ];
}

/** One wallet funds one agent a minute, so that a day contains 1,440 of them. */
function funderOfMany(count: number): Promise<MicroFigures> {
  const funder = address(1);
  const setUp = Array.from({ length: count }, (_, n) => deposit(n, address(2 + n)));
  const events = Array.from({ length: count }, (_, n) =>
    transfer(count + n, funder, address(2 + n), 1_000_000n),
  );
  return timed("a funder funds one agent after another", setUp, events);
}

/** One wallet funds many agents in one block. All of them were registered in the block before. */
function funderOfOneBlock(count: number): Promise<MicroFigures> {
  const funder = address(1);
  const at = { block: 1, time: START };
  const setUp = Array.from({ length: count }, (_, n) => ({ ...deposit(n, address(2 + n)), ...at, log: n }));
  const events = Array.from({ length: count }, (_, n) => ({
    ...transfer(n, funder, address(2 + n), 1_000_000n),
    block: 2,
    time: START + 1,
    log: n,
  }));
  return timed("a funder funds agents that one block registered", setUp, events);
}

function receiverOfMany(count: number, name: string, value: (n: number) => bigint): Promise<MicroFigures> {
  const receiver = address(1);
  const events = Array.from({ length: count }, (_, n) => transfer(1 + n, address(2 + n), receiver, value(n)));
  return timed(name, [deposit(0, receiver)], events);
}

/** Listings of many agents, each with its own host, over some capabilities, prices and latencies. */
function listings(count: number): Promise<MicroFigures> {
  const events = Array.from({ length: count }, (_, n): DeriveEvent => {
    return listing(n, address(1 + n), {
      capability: `work.kind${n % 200}`,
      price_usdc: `${(n * 7) % 900}.25`,
      max_latency_ms: 50 + ((n * 131) % 60_000),
      endpoint: `https://agent-${n}.example`,
    });
  });
  return timed("an agent lists what no other does", [], events);
}

function listing(n: number, agent: Address, terms: RecordBody): DeriveEvent {
  const place = { block: 1 + Math.floor(n / 100), time: START + n, log: 0, seq: n };
  const body = { agent_id: agent, ...terms };
  const record = { ledger: LEDGER, hash: n.toString(16).padStart(64, "0"), type: "listing", body };
  return { ...place, kind: "record", ...record, signer: agent, signature: "0x01" };
}

/**
 * Three listings that one agent after another copies. Every agent is similar to all agents before it, so each agent costs
 * more than the agent before.
 */
function lookAlikes(count: number): Promise<MicroFigures> {
  const capabilities = ["text.translate", "code.review", "chart.generate"];
  const events = Array.from({ length: count }, (_, n) =>
    capabilities.map((capability, at) =>
      listing(3 * n + at, address(1 + n), {
        capability,
        price_usdc: "1.00",
        max_latency_ms: 1_000,
        endpoint: `https://agent-${n}.example`,
      }),
    ),
  ).flat();
  return timed("a ring of look-alikes grows", [], events);
}

/** One agent publishes as many listings as it may. */
function manyListings(): Promise<MicroFigures> {
  const events = Array.from({ length: 100 }, (_, n) =>
    listing(n, address(1), {
      capability: `work.kind${n}`,
      price_usdc: "1.00",
      max_latency_ms: 1_000,
      endpoint: "https://agent.example",
    }),
  );
  return timed("an agent lists a hundred look-alikes of its own", [], events);
}

async function timed(name: string, setUp: DeriveEvent[], events: DeriveEvent[]): Promise<MicroFigures> {
  const store = new MemoryStore();
  const options = { trustSignatures: true };
  for (const event of setUp) apply(store, event, options);
  const tenth = Math.max(1, Math.floor(events.length / 10));
  const tenths: number[] = [];
  for (let from = 0; from + tenth <= events.length; from += tenth) {
    const before = process.cpuUsage();
    for (const event of events.slice(from, from + tenth)) apply(store, event, options);
    const { user, system } = process.cpuUsage(before);
    tenths.push((user + system) / tenth);
  }
  const mean = tenths.reduce((sum, it) => sum + it, 0) / tenths.length;
  return { name, events: events.length, mean, first: tenths[0] ?? 0, last: tenths.at(-1) ?? 0 };
}

function address(n: number): Address {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

function transfer(n: number, from: Address, to: Address, value: bigint): DeriveEvent {
  const place = { block: 1 + n, time: START + n * 60, log: 0 };
  const tx: Hex = `0x${n.toString(16).padStart(64, "0")}`;
  return { ...place, kind: "transfer", token: TOKEN, from, to, value: String(value), tx, authorized: false };
}

/** Makes `buyer` an agent. */
function deposit(n: number, buyer: Address): DeriveEvent {
  return {
    block: 1 + n,
    time: START + n * 60,
    log: 0,
    kind: "escrow.deposited",
    provider: "bench",
    escrow: ESCROW,
    escrowId: `0xe5${n.toString(16).padStart(62, "0")}`,
    hireId: ZERO_HASH,
    buyer,
    seller: NOBODY,
    payee: NOBODY,
    amount: "1000000",
    fee: "0",
    feeRecipient: NOBODY,
    deadline: START,
    arbiter: NOBODY,
    tx: ZERO_HASH,
  };
}
