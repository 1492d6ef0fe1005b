import fc from "fast-check";
import type { Address } from "../../../../protocol/address.ts";
import type { Hex } from "../../../../protocol/hex.ts";
import type { RecordBody } from "../../../../protocol/json/recordBody.ts";
import { DAY, EventLog, LEDGER, OTHER_LEDGER, wallet } from "../eventLog.ts";

/** Wallets 1–7 list and sell, 8–12 only move money or buy, 13 attests, 14 operates, 15 is an arbiter. */
const ATTESTOR = wallet(13);
const OPERATOR = wallet(14);
const ARBITER = wallet(15);

const someone = fc.integer({ min: 1, max: 12 }).map(wallet);
const seller = fc.integer({ min: 1, max: 7 }).map(wallet);
const few = fc.nat({ max: 5 });
const capability = fc.constantFrom("text.translate", "code.review", "chart.generate", "data.extract");
const wait = fc.oneof(
  { weight: 12, arbitrary: fc.integer({ min: 0, max: 3_600 }) },
  { weight: 3, arbitrary: fc.constantFrom(DAY - 1, DAY, DAY + 1) },
  { weight: 1, arbitrary: fc.constantFrom(15 * DAY, 30 * DAY - 1, 30 * DAY, 30 * DAY + 1) },
);

const ledger = fc.constantFrom(LEDGER, OTHER_LEDGER);
/** In which ledger, and whether in the form of before. */
const where = { ledger, old: fc.boolean() };

const action = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("spree" as const),
      seller,
      buyers: fc.integer({ min: 1, max: 4 }),
      hires: fc.integer({ min: 9, max: 21 }),
      failures: fc.integer({ min: 0, max: 3 }),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("fund" as const),
      from: someone,
      to: someone,
      cents: fc.integer({ min: 1, max: 400 }),
      authorized: fc.boolean(),
      tx: few,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("ring" as const),
      from: someone,
      size: fc.integer({ min: 3, max: 6 }),
      through: fc.boolean(),
    }),
  },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("hire" as const),
      seller,
      buyer: someone,
      capability,
      passed: fc.boolean(),
      latency: fc.nat({ max: 70_000 }),
      signed: fc.boolean(),
      atomic: fc.constantFrom(999, 1_000, 250_000, 250_001),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("receipt" as const),
      seller,
      buyer: someone,
      capability,
      tx: few,
      cents: fc.integer({ min: 1, max: 4 }),
      signed: fc.boolean(),
      again: fc.boolean(),
      payee: fc.option(someone),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("deposit" as const), seller, buyer: someone }) },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("escrow" as const),
      pick: fc.nat(),
      how: fc.constantFrom(
        "delivered",
        "release",
        "split",
        "buyer",
        "seller",
        "arbiter",
        "timeout",
        "receipt",
      ),
      capability,
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("list" as const),
      seller,
      capability,
      price: fc.constantFrom("0.50", "0.51", "7.00"),
      host: few,
      port: fc.constantFrom("", "", ":443", ":8443"),
      retired: fc.boolean(),
      private: fc.boolean(),
      issued: fc.option(few),
      payee: fc.option(someone),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ do: fc.constant("template" as const), count: fc.integer({ min: 3, max: 5 }) }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constant("rate" as const),
      pick: fc.nat(),
      stars: fc.integer({ min: 1, max: 5 }),
      side: fc.constantFrom("buyer", "seller"),
      ...where,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("telemetry" as const),
      pick: fc.nat(),
      latency: fc.option(fc.nat({ max: 900 })),
      passed: fc.boolean(),
      ...where,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("claim" as const),
      seller,
      state: fc.constantFrom("claimed", "verified", "unclaimed"),
      ...where,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("replay" as const),
      pick: fc.nat(),
      type: fc.option(fc.constantFrom("rating", "telemetry", "claim", "params", "verify", "contest")),
      ledger,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("params" as const),
      hub: fc.option(someone),
      unhub: fc.boolean(),
      thresholds: fc.record(
        {
          windowSeconds: fc.constantFrom(15 * DAY, 30 * DAY),
          volumeWindowSeconds: fc.constantFrom(DAY / 2, DAY),
          // Also so long that what counts can be as old as its window.
          reconcileSeconds: fc.constantFrom(DAY / 2, DAY, 40 * DAY),
          minHireAtomic: fc.constantFrom("1000", "2001"),
          minFundingAtomic: fc.constantFrom("100000", "500000"),
          fundingShare: fc.constantFrom({ numerator: 1, denominator: 4 }, { numerator: 1, denominator: 2 }),
          maxIntermediaries: fc.constantFrom(0, 1, 2, 3),
          maxListings: fc.constantFrom(2, 100),
          boundLedgers: fc.constantFrom<Hex[]>([], [LEDGER], [OTHER_LEDGER]),
        },
        { requiredKeys: [] },
      ),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("tick" as const) }) },
);

const step = fc.record({ wait, blocks: fc.constantFrom(0, 0, 1, 1, 1, 60, 256), action });

/** A log of agents that fund, list, pay, deposit, settle, rate and wait, with every edge of every window among the waits. */
export const generatedLog = generatedLogOf({ minLength: 5, maxLength: 60 });

/** Such logs of so many actions; most actions are an event or two, a few are dozens. */
export function generatedLogOf(length: { minLength: number; maxLength: number }): fc.Arbitrary<EventLog> {
  return fc.array(step, length).map((steps) => {
    const log = new EventLog({ operator: OPERATOR, claimAttestors: [ATTESTOR], auditArbiters: [ARBITER] });
    const build = new Builder(log);
    for (const { wait: seconds, blocks, action: it } of steps) {
      // A new block has a later time, and only a new block has.
      if (blocks > 0) log.after(seconds, blocks);
      build.add(it);
    }
    log.after(1).tick();
    return log;
  });
}

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;
type Receipt = { hash: string; seller: Address; buyer: Address };
type Held = { id: Hex; seller: Address; buyer: Address; delivered: boolean; settled: boolean };

class Builder {
  readonly #log: EventLog;
  readonly #txs: Hex[];
  readonly #receipts: Receipt[] = [];
  readonly #escrows: Held[] = [];
  readonly #hubs: Address[] = [];
  #version = 1;

  constructor(log: EventLog) {
    this.#log = log;
    this.#txs = Array.from({ length: 6 }, () => log.hash());
  }

  add(it: Action): void {
    const log = this.#log;
    switch (it.do) {
      case "fund": {
        const { authorized } = it;
        log.transfer(it.from, it.to, 10_000 * it.cents, { authorized, tx: this.#txs[it.tx] ?? log.hash() });
        return;
      }
      case "ring":
        for (let n = 1; n <= it.size; n++) {
          const from = it.through ? wallet(20 + n) : it.from;
          if (it.through) log.transfer(it.from, from, 100_000_000);
          log.transfer(from, wallet(n), 100_000_000);
        }
        return;
      case "spree":
        for (let n = 0; n < it.hires; n++) {
          const buyer = wallet(1 + (n % it.buyers));
          if (buyer === it.seller) continue;
          const capability = ["text.translate", "code.review", "chart.generate"][n % 3] ?? "";
          log.hire(it.seller, buyer, { capability, passed: n >= it.failures, amount: 2_000 });
        }
        return;
      case "hire": {
        const { capability, passed, seller, buyer } = it;
        if (seller === buyer) return;
        const signature = it.signed ? { buyer_signature: "0x02" } : {};
        const hash = log.hire(seller, buyer, {
          capability,
          passed,
          amount: it.atomic,
          latency_ms: it.latency,
          ...signature,
        });
        this.#receipts.push({ hash, seller, buyer });
        return;
      }
      case "receipt": {
        const options = {
          capability: it.capability,
          tx: this.#txs[it.tx] ?? log.hash(),
          amount: 10_000 * it.cents,
          ...(it.signed ? { buyer_signature: "0x02" } : {}),
          ...(it.again ? { hire_id: "again" } : {}),
          ...(it.payee === null ? {} : { payee: it.payee }),
        };
        const hash = log.receipt(it.seller, it.buyer, options);
        if (it.seller !== it.buyer && it.payee !== it.buyer)
          this.#receipts.push({ hash, seller: it.seller, buyer: it.buyer });
        return;
      }
      case "deposit": {
        if (it.seller === it.buyer) return;
        const id = log.deposit(it.seller, it.buyer, { arbiter: ARBITER });
        this.#escrows.push({ id, seller: it.seller, buyer: it.buyer, delivered: false, settled: false });
        return;
      }
      case "escrow":
        this.settle(it);
        return;
      case "list":
        log.listing(it.seller, it.capability, {
          price_usdc: it.price,
          endpoint: `https://host-${it.host}.example${it.port}`,
          retired: it.retired,
          private_metrics: it.private,
          ...(it.issued === null ? {} : { issued_at: it.issued }),
          ...(it.payee === null ? {} : { payee: it.payee, payee_signature: "0x02" }),
        });
        return;
      case "template":
        for (let n = 1; n <= it.count; n++) {
          for (const capability of ["text.translate", "code.review", "chart.generate"]) {
            log.listing(wallet(n), capability, { endpoint: `https://own-${n}.example` });
          }
        }
        return;
      case "rate":
      case "telemetry": {
        const receipt = this.#receipts[it.pick % this.#receipts.length];
        if (receipt === undefined) return;
        if (it.do === "rate") {
          const { side, stars } = it;
          const rater = side === "buyer" ? receipt.buyer : receipt.seller;
          this.say("rating", rater, { receipt: receipt.hash, side, stars }, it);
          return;
        }
        const verification = { all_passed: it.passed };
        const latency: RecordBody = it.latency === null ? {} : { latency_ms: it.latency };
        const measured = { receipt: receipt.hash, ...latency, verification };
        this.say("telemetry", receipt.buyer, measured, it);
        return;
      }
      case "claim": {
        const claim = {
          agent_id: it.seller,
          x_handle: "ada",
          verification_hash: "a".repeat(64),
          state: it.state,
        };
        this.say("claim", ATTESTOR, claim, it);
        return;
      }
      case "replay": {
        const said = log.events.filter((event) => event.kind === "record");
        const event = said[it.pick % said.length];
        if (event === undefined) return;
        const isBound = event.type !== "listing" && event.type !== "receipt";
        const type = isBound && it.type !== null ? it.type : event.type;
        log.replay(event.hash, { type, ledger: it.ledger });
        return;
      }
      case "params": {
        if (it.unhub) this.#hubs.shift();
        if (it.hub !== null && !this.#hubs.includes(it.hub)) this.#hubs.push(it.hub);
        const roots = {
          operator: OPERATOR,
          claimAttestors: [ATTESTOR],
          auditArbiters: [ARBITER],
          hubs: [...this.#hubs],
        };
        log.record("params", OPERATOR, { version: ++this.#version, ...it.thresholds, ...roots });
        return;
      }
      case "tick":
        log.tick();
    }
  }

  private say(
    type: string,
    signer: Address,
    body: RecordBody,
    { ledger, old }: { ledger: Hex; old: boolean },
  ): void {
    if (old) this.#log.said(type, signer, body, ledger);
    else this.#log.record(type, signer, body, ledger);
  }

  /** Only what the contract allows: a delivery once, a settlement once. */
  private settle({ pick, how, capability }: Extract<Action, { do: "escrow" }>): void {
    const log = this.#log;
    const it = this.#escrows[pick % this.#escrows.length];
    if (it === undefined) return;
    if (how === "receipt") {
      const hash = log.receipt(it.seller, it.buyer, { escrow_id: it.id, capability, latency_ms: pick % 500 });
      this.#receipts.push({ hash, seller: it.seller, buyer: it.buyer });
      return;
    }
    if (it.settled || (how === "delivered" && it.delivered)) return;
    if (how === "delivered") {
      it.delivered = true;
      log.delivered(it.id);
      return;
    }
    it.settled = true;
    if (how === "release") log.released(it.id);
    else if (how === "split") log.released(it.id, 200_000 + (pick % 100_000), 300_000 - (pick % 100_000));
    else if (how === "timeout") log.timedOut(it.id, it.delivered);
    else log.refunded(it.id, how === "buyer" ? it.buyer : how === "seller" ? it.seller : ARBITER);
  }
}
