import { toStringMethod } from "fast-check";
import { apply } from "tallystick-derive/apply";
import { openNotes } from "tallystick-derive/applyContext";
import type { DeriveEvent, ParamsEvent, RecordEvent } from "tallystick-derive/events";
import { MemoryStore } from "tallystick-derive/memoryStore";
import { parseEvent } from "tallystick-derive/parseEvent";
import { type Snapshot, snapshotOf } from "tallystick-derive/snapshot";
import type { Address } from "tallystick-protocol/address";
import { type Hex, ZERO_HASH } from "tallystick-protocol/hex";
import type { RecordBody, RecordJson } from "tallystick-protocol/json/recordBody";
import { bindBody } from "tallystick-protocol/records/binding";
import { defineParams, type Params } from "tallystick-protocol/records/params";

export const START = 1_767_225_600;
export const HOUR = 3600;
export const DAY = 86_400;
/** The default ledger of records, and another followed ledger. */
export const LEDGER: Hex = `0x${"1e".repeat(32)}`;
export const OTHER_LEDGER: Hex = `0x${"2e".repeat(32)}`;
export const TOKEN: Address = `0x${"70".repeat(20)}`;
export const NOBODY: Address = `0x${"0".repeat(40)}`;
export const ESCROW: Address = `0x${"e5".repeat(20)}`;

/** A readable address: `wallet(7)` is 0x0000…0007. */
export function wallet(n: number): Address {
  return `0x${n.toString(16).padStart(40, "0")}`;
}

/** An id of a hire with 32 bytes, as audits need it: the bytes of a name and zeros. */
export function hireIdFor(name: string): Hex {
  return `0x${Buffer.from(name).toString("hex").padEnd(64, "0")}`;
}

type ReceiptOptions = {
  passed?: boolean;
  capability?: string;
  amount?: bigint | number;
  tx?: Hex;
  /** Any other field of the receipt's body. */
  [field: string]: RecordJson | bigint | undefined;
};

/** A log that a test builds. Each event gets the next log number of the present block, and `after` begins a later block. */
export class EventLog {
  readonly events: DeriveEvent[] = [];
  time = START;
  block = 1;
  #log = 0;
  #seq = 0;
  #serial = 0;

  constructor(params: Parameters<typeof defineParams>[0] = {}, more: Partial<ParamsEvent> = {}) {
    this.push({ kind: "params", params: defineParams(params) as Params, ...more });
  }

  after(seconds: number, blocks = 1): this {
    this.time += seconds;
    this.block += blocks;
    this.#log = 0;
    return this;
  }

  transfer(
    from: Address,
    to: Address,
    value: bigint | number,
    { authorized = false, tx = this.hash() } = {},
  ): Hex {
    this.push({ kind: "transfer", token: TOKEN, from, to, value: String(value), tx, authorized });
    return tx;
  }

  /** The log number of the last event. */
  get lastLog(): number {
    return this.#log - 1;
  }

  /** A record whose body names its type and its ledger, as all types except listings and receipts do. */
  record(type: string, signer: Address, fields: RecordBody, ledger = LEDGER): string {
    return this.said(type, signer, bindBody(fields, { type, ledger }), ledger);
  }

  /** A record with exactly this body, for example in the older form, or signed for another purpose. */
  said(type: string, signer: Address, body: RecordBody, ledger = LEDGER): string {
    const hash = this.hash().slice(2);
    const seq = this.#seq++;
    this.push({ kind: "record", ledger, seq, hash, type, body, signer, signature: "0x01" });
    return hash;
  }

  /** Copies a signed record as another type, or into another ledger. Anybody who has the signature can do this. */
  replay(hash: string, { type, ledger }: { type?: string; ledger?: Hex } = {}): string {
    const event = this.events.find((it) => it.kind === "record" && it.hash === hash) as RecordEvent;
    return this.said(type ?? event.type, event.signer, event.body, ledger ?? event.ledger);
  }

  listing(agent: Address, capability: string, more: RecordBody = {}): string {
    return this.record("listing", agent, {
      agent_id: agent,
      capability,
      price_usdc: "0.50",
      max_latency_ms: 1000,
      endpoint: `https://${agent}.example`,
      ...more,
    });
  }

  receipt(agent: Address, buyer: Address, options: ReceiptOptions = {}): string {
    const {
      passed = true,
      capability = "text.translate",
      amount = 500_000,
      tx = ZERO_HASH,
      ...more
    } = options;
    return this.record("receipt", agent, {
      agent_id: agent,
      buyer,
      capability,
      hire_id: hireIdFor(`hire-${this.#serial++}`),
      tx_hash: tx,
      amount_usdc_atomic: String(amount),
      network: "eip155:8453",
      completed_at: this.time,
      protocol_version: "swarmwage/v0.3",
      verification: { all_passed: passed, checks: {} },
      ...(more as RecordBody),
    });
  }

  /** A direct hire: a payment by EIP-3009, and the receipt. */
  hire(seller: Address, buyer: Address, options: ReceiptOptions = {}): string {
    const tx = this.transfer(buyer, seller, options.amount ?? 500_000, { authorized: true });
    return this.receipt(seller, buyer, { ...options, tx });
  }

  deposit(
    seller: Address,
    buyer: Address,
    {
      amount = 500_000 as bigint | number,
      arbiter = NOBODY,
      hireId = undefined as Hex | undefined,
      payee = seller,
      fee = 0,
      feeRecipient = NOBODY,
      deadline = undefined as number | undefined,
      escrowId = this.hash(),
    } = {},
  ): Hex {
    const tx = this.transfer(buyer, ESCROW, amount, { authorized: true });
    this.push({
      kind: "escrow.deposited",
      provider: "swarmwage-partnered",
      escrow: ESCROW,
      escrowId,
      hireId: hireId ?? this.hash(),
      buyer,
      seller,
      payee,
      amount: String(amount),
      fee: String(fee),
      feeRecipient,
      deadline: deadline ?? this.time + 60,
      arbiter,
      tx,
    });
    return escrowId;
  }

  delivered(escrowId: Hex): this {
    return this.push({ kind: "escrow.delivered", escrowId, resultHash: this.hash() });
  }

  released(escrowId: Hex, toSeller: bigint | number = 500_000, toBuyer: bigint | number = 0, fee = 0): this {
    const amounts = { toSeller: String(toSeller), toBuyer: String(toBuyer), fee: String(fee) };
    return this.push({ kind: "escrow.released", escrowId, ...amounts });
  }

  refunded(escrowId: Hex, by: Address): this {
    return this.push({ kind: "escrow.refunded", escrowId, by });
  }

  timedOut(escrowId: Hex, delivered = false): this {
    return this.push({ kind: "escrow.timedOut", escrowId, delivered });
  }

  /** @param hash the hash of the block; a tick without a hash draws nothing */
  tick(hash?: Hex): this {
    this.events.push({ block: this.block, time: this.time, kind: "tick", ...(hash && { hash }) });
    return this.after(0);
  }

  /** The text that a failing property shows: the log, in lines that `tallystick derive` reads. */
  [toStringMethod](): string {
    return this.events.map((event) => JSON.stringify(event)).join("\n");
  }

  hash(): Hex {
    return `0xaa${(++this.#serial).toString(16).padStart(62, "0")}`;
  }

  /** Applies the whole log and reads the state, through the line format that `derive` reads. */
  async derive(count = this.events.length): Promise<Snapshot & { store: MemoryStore }> {
    const store = new MemoryStore();
    const notes = openNotes(store);
    for (const event of this.events.slice(0, count)) {
      apply(store, parseEvent(JSON.stringify(event)), { trustSignatures: true }, notes);
    }
    return { ...snapshotOf(store), store };
  }

  /** Adds any event, with the next log number. */
  push(event: object): this {
    this.events.push({ block: this.block, time: this.time, log: this.#log++, ...event } as DeriveEvent);
    return this;
  }
}
