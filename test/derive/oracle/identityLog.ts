import fc from "fast-check";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { DAY, wallet } from "../eventLog.ts";
import { IDENTITY, REPUTATION, RegistryLog, UNLISTED } from "../identities/registryLog.ts";

/** Wallets 1–4 sell, 1–8 buy and rate, 1–9 own; 100 and 101 fund. */
const seller = fc.integer({ min: 1, max: 4 }).map(wallet);
const anyone = fc.integer({ min: 1, max: 9 }).map(wallet);
const identity = fc.integer({ min: 1, max: 3 });

const action = fc.oneof(
  { weight: 3, arbitrary: fc.record({ do: fc.constant("list" as const), seller }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("register" as const),
      identity,
      owner: seller,
      to: fc.option(anyone, { freq: 3 }),
      sets: fc.option(anyone, { freq: 3 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("sell" as const), identity, to: anyone }) },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant("wallet" as const),
      identity,
      to: fc.option(seller, { freq: 5 }),
    }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant("rate" as const),
      identity,
      client: anyone,
      times: fc.integer({ min: 1, max: 3 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("revoke" as const), which: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("respond" as const), which: fc.nat(), by: anyone }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("hire" as const),
      seller,
      buyer: anyone,
      rates: fc.option(identity, { freq: 4 }),
      how: fc.constantFrom("at once", "later", "later", "escrow", "refunded"),
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("tell" as const), which: fc.nat() }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("fund" as const), from: fc.constantFrom(100, 101), to: anyone }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("ring" as const), first: fc.integer({ min: 1, max: 4 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("upgrade" as const), which: fc.integer({ min: 0, max: 15 }) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("tick" as const) }) },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;
type Paid = { seller: Address; buyer: Address; tx: Hex };

const step = fc.record({
  // From no wait, over the longest time that a receipt may wait, to a whole window.
  wait: fc.constantFrom(0, 0, 0, 0, 1, 1, 60, 60, 3_600, 3_600, DAY - 1, DAY + 1, 30 * DAY),
  action,
});

/** Logs of identities that are registered, sold, rated and hired, including actions of a hostile owner. */
export const identityLog = fc
  .tuple(fc.array(step, { minLength: 5, maxLength: 60 }), fc.subarray([1, 2, 3, 4, 5, 6, 7, 8]))
  .map(([steps, funded]) => logOf(steps, funded));

/** @param funded the wallets whose money began with one wallet */
function logOf(steps: { wait: number; action: Action }[], funded: number[]): RegistryLog {
  const log = new RegistryLog();
  const build = new Builder(log);
  // The transfers are so far apart that the wallets form no cluster.
  for (const n of funded) log.after(2 * DAY, 300).transfer(wallet(102), wallet(n), 5_000_000);
  for (const n of [1, 2]) {
    build.add({ do: "list", seller: wallet(n) });
    build.add({ do: "register", identity: n, owner: wallet(n), to: null, sets: null });
  }
  log.after(1);
  for (const { wait, action: it } of steps) {
    if (wait > 0) log.after(wait);
    build.add(it);
  }
  log.after(1).tick();
  return log;
}

class Builder {
  readonly #log: RegistryLog;
  readonly #owners = new Map<number, Address>();
  readonly #feedback: string[] = [];
  readonly #paid: Paid[] = [];
  #rings = 0;

  constructor(log: RegistryLog) {
    this.#log = log;
  }

  add(it: Action): void {
    const log = this.#log;
    switch (it.do) {
      case "list":
        log.listing(it.seller, "text.translate", { issued_at: log.block });
        return;
      case "register":
        this.#register(it);
        return;
      case "sell": {
        const from = this.#owners.get(it.identity);
        if (from === undefined) return;
        log.sold(it.identity, from, it.to);
        this.#owners.set(it.identity, it.to);
        return;
      }
      case "wallet":
        if (this.#owners.has(it.identity)) log.wallet(it.identity, it.to);
        return;
      case "rate":
        // The identity may be unregistered. The contract refuses such feedback, but a log can contain it.
        for (let n = 0; n < it.times; n++) this.#feedback.push(log.feedback(it.identity, it.client));
        return;
      case "revoke": {
        const id = this.#feedback[it.which % this.#feedback.length];
        if (id !== undefined) log.revoked(id);
        return;
      }
      case "respond": {
        const id = this.#feedback[it.which % this.#feedback.length];
        if (id !== undefined) log.responded(id, it.by);
        return;
      }
      case "hire":
        this.#hire(it);
        return;
      case "tell": {
        const [paid] = this.#paid.splice(it.which % Math.max(1, this.#paid.length), 1);
        if (paid !== undefined) log.receipt(paid.seller, paid.buyer, { tx: paid.tx });
        return;
      }
      case "fund":
        log.transfer(wallet(it.from), it.to, 5_000_000);
        return;
      case "ring":
        this.#rings += 1;
        for (let n = it.first; n < it.first + 4; n++)
          log.transfer(wallet(100), wallet(n), 100_000_000 * this.#rings);
        for (let n = it.first; n < it.first + 4; n++)
          log.listing(wallet(n), "text.translate", { issued_at: log.block });
        return;
      case "upgrade":
        if (it.which === 0) log.upgraded(IDENTITY, UNLISTED);
        else if (it.which === 1) log.upgraded(REPUTATION, UNLISTED);
        else log.upgraded(it.which % 2 === 0 ? IDENTITY : REPUTATION);
        return;
      case "tick":
        log.tick();
    }
  }

  #register(it: Extract<Action, { do: "register" }>): void {
    if (this.#owners.has(it.identity)) return;
    const { identity: id, owner, to, sets } = it;
    this.#owners.set(id, to ?? owner);
    this.#log.register(id, owner, {
      meanwhile: (tx) => {
        if (to !== null) this.#log.sold(id, owner, to, tx);
        if (sets !== null) this.#log.wallet(id, sets, tx);
      },
    });
  }

  #hire({ seller, buyer, rates, how }: Extract<Action, { do: "hire" }>): void {
    const log = this.#log;
    if (seller === buyer) return;
    const rate = () => {
      // The feedback is usually about the identity of the hire's seller.
      const about = rates === 3 ? 3 : Number(BigInt(seller));
      if (rates !== null) this.#feedback.push(log.feedback(about, buyer));
    };
    if (how === "escrow" || how === "refunded") {
      const id = log.deposit(seller, buyer);
      log.delivered(id);
      rate();
      if (how === "escrow") log.released(id);
      else log.refunded(id, buyer);
      return;
    }
    const tx = log.transfer(buyer, seller, 500_000, { authorized: true });
    if (how === "at once") log.receipt(seller, buyer, { tx });
    else this.#paid.push({ seller, buyer, tx });
    rate();
  }
}
