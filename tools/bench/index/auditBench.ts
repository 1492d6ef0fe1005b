import { createHash } from "node:crypto";
import { apply } from "tallystick-derive/apply";
import type { DeriveEvent } from "tallystick-derive/events";
import { MemoryStore } from "tallystick-derive/memoryStore";
import type { Store } from "tallystick-derive/store";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { bindBody } from "tallystick-protocol/records/binding";
import { defineParams, type Params } from "tallystick-protocol/records/params";

const TOKEN: Address = `0x${"70".repeat(20)}`;
const LEDGER: Hex = `0x${"1e".repeat(32)}`;
const START = 1_767_225_600;
const DAY = 86_400;
const [OPERATOR, AUDITED, POOL] = [address(1), address(2), address(3)];
const [SELLERS, AUDITORS] = [200, 100];
const CAPABILITY = "text.translate";

/** Seconds of processor time for a whole log, and for its last tick, which makes the draws. */
export type AuditFigures = { seconds: number; tick: number; drawn: number };

/**
 * Derives a log of `hires` in memory. Each hire has a payment, a receipt and a seller that agreed to audits. A
 * tick comes after every `everyHires` hires.
 *
 * @param ppm how many hires of a million are drawn; null for a log without an operator of audits
 */
export async function deriveAudited(
  hires: number,
  ppm: number | null,
  everyHires = 1_500,
): Promise<AuditFigures> {
  const { events } = auditedLog(hires, ppm, everyHires);
  const store = new MemoryStore();
  const begin = cpuSeconds();
  let tick = 0;
  for (const event of events) {
    const before = cpuSeconds();
    apply(store, event, { trustSignatures: true, sha256Hex });
    if (event.kind === "tick") tick = cpuSeconds() - before;
  }
  const seconds = cpuSeconds() - begin;
  const drawn = [...store.rows("audit").values()].filter(({ drawnBlock }) => drawnBlock !== null).length;
  return { seconds, tick, drawn };
}

/** How often the derivation of an audited log reads or writes a row, for each hire. It is the same on every machine. */
export async function operationsOfAudited(hires: number, ppm: number | null): Promise<number> {
  const rows = new MemoryStore();
  let count = 0;
  const store: Store = {
    get: (table, id) => {
      count++;
      return rows.get(table, id);
    },
    insert: (table, row) => {
      count++;
      return rows.insert(table, row);
    },
    put: (table, row) => {
      count++;
      return rows.put(table, row);
    },
    update: (table, id, change) => {
      count++;
      return rows.update(table, id, change);
    },
  };
  for (const event of auditedLog(hires, ppm).events)
    apply(store, event, { trustSignatures: true, sha256Hex });
  return count / hires;
}

function auditedLog(hires: number, ppm: number | null, everyHires = 1_500): Log {
  const log = new Log(ppm);
  for (let n = 0; n < SELLERS; n++) log.list(address(1_000 + n));
  for (let n = 0; n < AUDITORS; n++) {
    log.hire(address(5_000 + n), address(6_000 + n));
    log.offer(address(5_000 + n), n);
  }
  log.wait(DAY);
  log.tick(hash(0));
  for (let n = 0; n < hires; n++) {
    log.hire(address(1_000 + ((n * 7) % SELLERS)), address(10_000 + ((n * 13) % 5_000)));
    if (n % everyHires === everyHires - 1) log.tick(hash(n));
  }
  // This tick does the work for the hires themselves, so that only the draws are left for the next tick.
  log.tick();
  log.tick(hash(hires + 1));
  return log;
}

class Log {
  readonly events: DeriveEvent[] = [];
  #block = 1;
  #time = START;
  #serial = 0;

  constructor(ppm: number | null) {
    const operators = { [AUDITED]: { pool: POOL } };
    const params = defineParams({
      ...{ operator: OPERATOR, tier2MinSuccesses: 1, tier2MinCapabilities: 1 },
      ...(ppm !== null && { audit: { operators, ratePpm: ppm, recheckPpm: 0 } }),
    }) as Params;
    this.events.push({ kind: "params", params, block: 1, time: START, log: 0 } as DeriveEvent);
  }

  wait(seconds: number): void {
    this.#time += seconds;
    this.#block += 1;
  }

  list(agent: Address): void {
    this.record("listing", agent, {
      ...{ agent_id: agent, capability: CAPABILITY, price_usdc: "0.50", max_latency_ms: 1_000 },
      ...{ endpoint: `https://${agent}.example`, audit: { operator: AUDITED } },
    });
  }

  offer(agent: Address, n: number): void {
    this.record("auditor", agent, {
      ...{ agent_id: agent, operator: AUDITED, capabilities: [CAPABILITY], active: true, issued_at: 1 },
      endpoint: `https://auditor-${n}.example`,
    });
  }

  hire(seller: Address, buyer: Address): void {
    this.wait(2);
    const tx = hash(++this.#serial);
    const [block, time] = [this.#block, this.#time];
    const paid = { token: TOKEN, from: buyer, to: seller, value: "500000", tx, authorized: true };
    this.events.push({ kind: "transfer", block, time, log: 0, ...paid } as DeriveEvent);
    this.record("receipt", seller, {
      ...{ agent_id: seller, buyer, capability: CAPABILITY, hire_id: tx, tx_hash: tx },
      ...{ amount_usdc_atomic: "500000", network: "eip155:8453", completed_at: time },
      ...{ protocol_version: "swarmwage/v0.3", verification: { all_passed: true, checks: {} } },
      ...{ params_hash: hash(1), result_hash: hash(this.#serial) },
    });
  }

  tick(blockHash?: Hex): void {
    this.wait(2);
    const tick = { kind: "tick" as const, block: this.#block, time: this.#time };
    this.events.push(blockHash === undefined ? tick : { ...tick, hash: blockHash });
  }

  private record(type: string, signer: Address, fields: RecordBody): void {
    const seq = ++this.#serial;
    const body = bindBody(fields, { type, ledger: LEDGER });
    const said = { ledger: LEDGER, seq, hash: hash(seq).slice(2), type, body, signer, signature: "0x01" };
    const at = { block: this.#block, time: this.#time, log: seq };
    this.events.push({ kind: "record", ...at, ...said } as DeriveEvent);
  }
}

function address(n: number): Address {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

function hash(n: number): Hex {
  return `0x${n.toString(16).padStart(64, "a")}`;
}

function sha256Hex(text: string, encoding: "utf8" | "hex"): string {
  return createHash("sha256").update(text, encoding).digest("hex");
}

function cpuSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}
