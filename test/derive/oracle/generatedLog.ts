import fc from "fast-check";
import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { EventLog, wallet } from "../eventLog.ts";
import {
  type Action,
  ARBITER,
  ATTESTOR,
  CLUSTERED,
  clusterStep,
  type DistantAction,
  distantStep,
  type Gates,
  gates,
  OPERATOR,
  step,
  tierStep,
} from "./generatedActions.ts";

/**
 * A log of agents that fund, list, pay, deposit, settle, rate and wait. The waits include the limits of every window.
 */
export const generatedLog = generatedLogOf({ minLength: 5, maxLength: 60 });

/** Generates such logs with this many actions. Most actions are one or two events, a few are dozens. */
export function generatedLogOf(length: { minLength: number; maxLength: number }): fc.Arbitrary<EventLog> {
  return fc
    .tuple(fc.array(step, length), gates)
    .map(([steps, kept]) => logOf(steps, [], {}, undefined, kept));
}

/** When listings are similar, and how many similar agents make a cluster. */
const similar = fc.record({
  clusterOthers: fc.integer({ min: 1, max: 3 }),
  fingerprintSimilarity: fc
    .constantFrom([1, 1], [23, 25], [9, 10], [3, 4], [2, 3], [1, 2])
    .map(([numerator = 1, denominator = 1]) => ({ numerator, denominator })),
});

/** Logs of agents in many clusters. Some clusters merge, and split when their funder is published as a hub. */
export const clusterLog = fc
  .array(clusterStep, { minLength: 6, maxLength: 40 })
  .map((steps) => logOf(steps, CLUSTERED));

/** Logs in which the operator changes the gates of Tier 2 all the time. */
export const tierLog = fc
  .array(tierStep, { minLength: 10, maxLength: 60, size: "max" })
  .map((steps) => logOf(steps));

/**
 * Logs in which a few agents change their listings all the time, so that sets of tokens appear, disappear and appear
 * again. New parameters change the required similarity, and how many others an agent needs.
 */
export const listingLog = fc
  .tuple(
    similar,
    fc.array(
      fc.oneof(
        {
          weight: 15,
          arbitrary: fc.record({
            agent: fc.integer({ min: 1, max: 8 }),
            capability: fc.constantFrom("a.one", "a.two", "a.three"),
            max_latency_ms: fc.constantFrom(1_000, 1_000, 3_000, 9_000),
            price_usdc: fc.constantFrom("0.5", "0.5", "2"),
            host: fc.constantFrom("own", "own", "a", "b"),
            retired: fc.nat(2).map((n) => n === 0),
          }),
        },
        { weight: 1, arbitrary: similar },
      ),
      { minLength: 40, maxLength: 250, size: "max" },
    ),
  )
  .map(([first, changes]) => {
    const log = new EventLog({ operator: OPERATOR, ...first });
    for (const [n, change] of changes.entries()) {
      log.after(1, 1 + (n % 7));
      if ("agent" in change) {
        const { agent, capability, host, ...more } = change;
        const endpoint = `https://${host === "own" ? `own${agent}` : host}.example`;
        log.listing(wallet(agent), capability, { ...more, endpoint, issued_at: n });
      } else log.record("params", OPERATOR, { version: n + 2, operator: OPERATOR, ...change });
    }
    return log;
  });

/**
 * Logs in which money comes from far away, late, and in thousands of transfers. Between any two events there are
 * `noise` irrelevant transfers.
 */
export function distantLogOf(length: { minLength: number; maxLength: number }, noise: number) {
  const hubTransfers = fc.constantFrom(3, 8, 20, 10_000);
  return fc
    .tuple(fc.array(distantStep, length), hubTransfers, fc.nat())
    .map(([steps, count, seed]) =>
      logOf(steps, [], { hubTransfers: count }, (log) => addNoise(log, noise, seed + log.events.length)),
    );
}

/** Transfers between strangers, a few from wallets of the log, and some into wallets that pass money on. */
function addNoise(log: EventLog, count: number, seed: number): void {
  let state = seed;
  const next = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
  const stranger = () => wallet(1_000 + next(500));
  for (let n = 0; n < count; n++) {
    const odd = next(200);
    const from = odd === 0 ? wallet(1 + next(34)) : stranger();
    const to = odd === 1 ? wallet(20 + next(15)) : stranger();
    log.transfer(from, to, next(1_000_000), { authorized: odd % 2 === 0 });
  }
}

function logOf(
  steps: { wait: number; blocks: number; action: Action | DistantAction }[],
  listed: Address[] = [],
  params: Params = {},
  between: (log: EventLog) => void = () => {},
  kept: Gates = {},
): EventLog {
  const roots = { operator: OPERATOR, claimAttestors: [ATTESTOR], auditArbiters: [ARBITER] };
  const log = new EventLog({ ...roots, ...params, ...kept }, { chainId: 8_453 });
  for (const agent of listed) log.after(60, 300).listing(agent, "text.translate");
  const build = new Builder(log, kept);
  for (const { wait: seconds, blocks, action: it } of steps) {
    // Each new block has a later time, and time changes only with a new block.
    if (blocks > 0) log.after(seconds, blocks);
    between(log);
    build.add(it);
  }
  log.after(1).tick();
  return log;
}

type Params = ConstructorParameters<typeof EventLog>[0];
type Receipt = { hash: string; seller: Address; buyer: Address };
type Held = { id: Hex; seller: Address; buyer: Address; delivered: boolean; settled: boolean };

class Builder {
  readonly #log: EventLog;
  readonly #kept: Gates;
  readonly #txs: Hex[];
  readonly #receipts: Receipt[] = [];
  readonly #escrows: Held[] = [];
  readonly #hubs: Address[] = [];
  #version = 1;
  #rings = 0;

  /** @param kept parameters that are the same in every params record */
  constructor(log: EventLog, kept: Gates) {
    this.#log = log;
    this.#kept = kept;
    this.#txs = Array.from({ length: 6 }, () => log.hash());
  }

  add(it: Action | DistantAction): void {
    const log = this.#log;
    switch (it.do) {
      case "chain":
        this.#rings += 1;
        // Every transfer is larger than everything that its receiver had before.
        for (let n = it.first; n < it.first + it.size; n++) {
          const way = [it.from, ...it.through.map((step) => wallet(step + (it.apart ? n : 0))), wallet(n)];
          for (const [leg, to] of way.slice(1).entries()) {
            log.transfer(way[leg] ?? to, to, 100_000_000 * 2 ** this.#rings + leg);
            if (it.slow) log.after(60);
          }
        }
        return;
      case "busy":
        for (let n = 0; n < it.count; n++) {
          if (it.out) log.transfer(it.wallet, wallet(1_000 + n), n);
          else log.transfer(n % 5 === 0 ? ZERO_ADDRESS : wallet(1_000 + n), it.wallet, it.value);
        }
        return;
      case "pay": {
        const { seller, buyer, authorized, signed, consent, order, copies } = it;
        const payee = it.payee ?? seller;
        if (seller === buyer || payee === buyer) return;
        const tx = log.hash();
        const agree = () =>
          log.listing(seller, "data.lookup", { payee, payee_signature: "0x02", issued_at: log.block });
        const pay = () => {
          for (let n = 0; n < copies; n++) log.transfer(buyer, payee, it.amount, { authorized, tx });
        };
        const tell = () =>
          log.receipt(seller, buyer, {
            tx,
            amount: it.amount,
            ...(payee === seller ? {} : { payee }),
            ...(signed ? { buyer_signature: "0x02" } : {}),
          });
        if (consent === "before" && payee !== seller) agree();
        if (order === "payment first") pay();
        if (it.apart) log.after(it.apart);
        if (consent === "between" && payee !== seller) agree();
        for (let n = 0; n < it.receipts; n++) tell();
        if (order === "receipt first") pay();
        return;
      }
      case "fund": {
        const { authorized } = it;
        log.transfer(it.from, it.to, 10_000 * it.cents, { authorized, tx: this.#txs[it.tx] ?? log.hash() });
        return;
      }
      case "ring":
        // Each ring sends larger sums than the ring before. Otherwise the money of the fifth ring would be dust.
        this.#rings += 1;
        for (let n = it.first; n < it.first + it.size; n++) {
          const amount = 100_000_000 * this.#rings;
          const from = it.through ? wallet(20 + n) : it.from;
          if (it.through) log.transfer(it.from, from, amount);
          log.transfer(from, wallet(n), amount);
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
          network: ["eip155:8453", "base", "eip155:84532", "solana"][log.block % 4] ?? "",
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
          // Some claims come again with the same nonce.
          nonce: String(log.events.length % 4),
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
        log.record("params", OPERATOR, {
          version: ++this.#version,
          ...this.#kept,
          ...it.thresholds,
          ...roots,
        });
        return;
      }
      case "enter":
        log.listing(it.agent, "data.lookup");
        return;
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

  /** Adds only steps that the contract allows: one delivery, one settlement. */
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
