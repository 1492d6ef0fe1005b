import fc from "fast-check";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import { DAY, ESCROW, EventLog, wallet } from "../eventLog.ts";

/** Wallets 1–6 sell, 1–14 buy, 20–29 only move money, 30–33 are payees; 40 gets fees, 41 is a hub, 42 publishes. */
const [FEES, HUB, OPERATOR] = [wallet(40), wallet(41), wallet(42)];
const seller = fc.integer({ min: 1, max: 6 }).map(wallet);
const buyer = fc.integer({ min: 1, max: 14 }).map(wallet);
const mover = fc.oneof(
  fc.integer({ min: 1, max: 14 }).map(wallet),
  fc.integer({ min: 20, max: 33 }).map(wallet),
  fc.constantFrom(HUB, ZERO_ADDRESS, ESCROW),
);
const payee = fc.option(fc.integer({ min: 30, max: 33 }).map(wallet));
const value = fc.constantFrom(0, 1, 99_999, 100_000, 500_000, 500_000, 3_000_000);

const action = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant("move" as const), from: mover, to: mover, value }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("chain" as const),
      from: mover,
      to: buyer,
      length: fc.constantFrom(2, 15, 16, 17, 18),
      value,
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("hire" as const),
      seller,
      buyer,
      passed: fc.boolean(),
      amount: fc.constantFrom(1_000, 99_999, 500_000),
      payee,
      signed: fc.constantFrom(true, true, false),
      receiptFirst: fc.boolean(),
      late: fc.constantFrom(0, 0, 0, DAY, DAY + 1),
    }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("pay" as const), seller, buyer, value }) },
  {
    weight: 10,
    arbitrary: fc.record({
      do: fc.constant("escrow" as const),
      seller,
      buyer,
      payee,
      delivered: fc.boolean(),
      how: fc.constantFrom("release", "split", "buyer", "seller", "timeout"),
      fee: fc.constantFrom(0, 5_000, 499_001, 500_000),
      feeTo: fc.constantFrom<"keeper" | "buyer" | "wallet">("keeper", "buyer", "wallet"),
      withdrawn: fc.boolean(),
      late: fc.constantFrom(0, 0, DAY + 2),
      receipt: fc.boolean(),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("spree" as const), buyer, first: fc.nat({ max: 3 }) }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("list" as const), seller: buyer, payee }) },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("fund" as const),
      from: fc.constantFrom(HUB, HUB, ZERO_ADDRESS),
      through: fc.array(fc.integer({ min: 20, max: 25 }).map(wallet), { maxLength: 2 }),
      buyer,
      value: fc.constantFrom(100_000, 700_000, 3_000_000),
    }),
  },
  // About as many small transfers as one hire checks, before a larger transfer from a hub.
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("drip" as const),
      from: mover,
      buyer,
      seller,
      times: fc.constantFrom(15, 16, 17),
    }),
  },
  // A seller that funds its own buyer, with or without a wallet between them.
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant("own" as const),
      seller,
      buyer: fc.integer({ min: 10, max: 19 }).map(wallet),
      through: fc.option(fc.integer({ min: 20, max: 29 }).map(wallet)),
    }),
  },
  // Money that reaches a buyer in the block of its payment, perhaps in pieces, and money that the buyer had before.
  {
    weight: 8,
    arbitrary: fc.record({
      do: fc.constant("loan" as const),
      seller,
      buyer: fc.integer({ min: 10, max: 16 }).map(wallet),
      early: fc.constantFrom(0, 300_000, 3_000_000),
      from: mover,
      lent: fc.constantFrom(0, 1, 99_999, 250_000, 500_000, 1_000_000),
      pieces: fc.constantFrom(1, 1, 3),
      rounds: fc.constantFrom(1, 1, 2, 3, 17),
      isLentAgain: fc.boolean(),
      isBlockEarlier: fc.constantFrom(false, false, false, true),
      isReversed: fc.boolean(),
      how: fc.constantFrom("direct", "direct", "escrow", "later"),
      amount: fc.constantFrom(1_000, 250_000, 500_000),
    }),
  },
  // A payee that spends an escrow's payout, and a buyer that is funded by a wallet with many transfers.
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("paid" as const), seller, buyer, to: seller }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("busy" as const), seller, sent: fc.constantFrom(4, 5, 6) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("count" as const), hubTransfers: fc.constantFrom(2, 5, 10_000) }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant("tick" as const) }) },
);

type Action = typeof action extends fc.Arbitrary<infer T> ? T : never;

const step = fc.record({
  wait: fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 1, max: 3_600 }) },
    { weight: 2, arbitrary: fc.constantFrom(DAY - 1, DAY, DAY + 1, DAY + 2) },
    { weight: 2, arbitrary: fc.constantFrom(10 * DAY, 30 * DAY - 1, 30 * DAY, 30 * DAY + 1) },
  ),
  action,
});

/**
 * Logs of wallets that fund, pay, give back and keep silent, including the boundary cases of every rule on families.
 */
export const familyLog = fc.array(step, { minLength: 5, maxLength: 40 }).map((steps) => logOf(steps));

function logOf(steps: { wait: number; action: Action }[]): EventLog {
  const log = new EventLog({ operator: OPERATOR, hubs: [HUB], feeRecipients: [FEES] });
  let version = 1;
  let passers = 100;
  for (const { wait, action: it } of steps) {
    log.after(wait);
    switch (it.do) {
      case "move":
        log.transfer(it.from, it.to, it.value);
        break;
      case "chain": {
        const way = [it.from, ...Array.from({ length: it.length - 1 }, () => wallet(passers++)), it.to];
        for (const [n, to] of way.slice(1).entries()) log.transfer(way[n] ?? to, to, it.value + 1_000_000);
        break;
      }
      case "hire":
        hire(log, it);
        break;
      case "pay":
        log.listing(it.seller, "text.translate", { issued_at: log.block });
        if (it.seller !== it.buyer) log.transfer(it.buyer, it.seller, it.value, { authorized: true });
        break;
      case "escrow":
        escrow(log, it);
        break;
      case "spree":
        for (let n = 1; n <= 6 - it.first; n++) if (wallet(n) !== it.buyer) log.hire(wallet(n), it.buyer);
        break;
      case "list":
        log.listing(it.seller, "text.translate", {
          issued_at: log.block,
          ...(it.payee && { payee: it.payee, payee_signature: "0x02" }),
        });
        break;
      case "fund": {
        const way = [it.from, ...it.through, it.buyer];
        for (const [n, to] of way.slice(1).entries()) log.transfer(way[n] ?? to, to, it.value);
        break;
      }
      case "drip":
        for (let n = 0; n < it.times; n++) log.transfer(it.from, it.buyer, 100_000);
        log.transfer(HUB, it.buyer, 700_000);
        if (it.seller !== it.buyer) log.hire(it.seller, it.buyer);
        break;
      case "own":
        log.listing(it.seller, "text.translate", { issued_at: log.block });
        log.transfer(HUB, it.seller, 300_000);
        for (const [from, to] of it.through === null
          ? [[it.seller, it.buyer] as const]
          : ([
              [it.seller, it.through],
              [it.through, it.buyer],
            ] as const))
          log.transfer(from, to, 700_000);
        log.hire(it.seller, it.buyer);
        break;
      case "loan":
        loan(log, it);
        break;
      case "paid": {
        const payee = wallet(passers++);
        escrow(log, {
          ...{ do: "escrow", seller: it.seller, buyer: it.buyer, payee, delivered: false, how: "release" },
          ...{ fee: 0, feeTo: "keeper" as const, withdrawn: false, late: 0, receipt: true },
        });
        log.after(1);
        log.hire(it.to, payee);
        break;
      }
      case "busy": {
        const [sender, newcomer] = [wallet(passers++), wallet(passers++)];
        for (let n = 0; n < it.sent; n++) log.transfer(sender, wallet(21), 100_000);
        log.transfer(sender, newcomer, 700_000);
        log.after(1);
        log.hire(it.seller, newcomer);
        break;
      }
      case "count":
        log.record("params", OPERATOR, {
          version: ++version,
          operator: OPERATOR,
          hubs: [HUB],
          feeRecipients: [FEES],
          hubTransfers: it.hubTransfers,
        });
        break;
      case "tick":
        log.tick();
    }
  }
  log.after(1).tick();
  return log;
}

function hire(log: EventLog, it: Extract<Action, { do: "hire" }>): void {
  const { seller, buyer, passed, amount, payee } = it;
  if (seller === buyer) return;
  if (payee !== null && it.receiptFirst)
    log.listing(seller, "data.lookup", { payee, payee_signature: "0x02", issued_at: log.block });
  const tx = log.hash();
  const pay = () => log.transfer(buyer, payee ?? seller, amount, { authorized: true, tx });
  const tell = () =>
    log.receipt(seller, buyer, {
      ...{ tx, amount, passed },
      ...(payee && { payee, ...(it.signed && { buyer_signature: "0x02" }) }),
    });
  if (!it.receiptFirst) pay();
  else tell();
  if (it.late > 0) log.after(it.late).tick();
  if (it.receiptFirst) pay();
  else tell();
}

function loan(log: EventLog, it: Extract<Action, { do: "loan" }>): void {
  const { seller, buyer, amount } = it;
  if (seller === buyer) return;
  log.listing(seller, "text.translate", { issued_at: log.block });
  if (it.early > 0) log.transfer(HUB, buyer, it.early);
  log.after(1);
  const lend = () => {
    for (let n = 0; n < it.pieces; n++) log.transfer(it.from, buyer, it.lent);
  };
  const receipts: (() => void)[] = [];
  for (let n = 0; n < it.rounds; n++) {
    if (n === 0 || it.isLentAgain) lend();
    if (n === 0 && it.isBlockEarlier) log.after(1);
    if (it.how === "direct") {
      const tx = log.transfer(buyer, seller, amount, { authorized: true });
      receipts.push(() => log.receipt(seller, buyer, { tx, amount }));
    } else {
      const id = log.deposit(seller, buyer, { amount });
      if (it.how === "later") log.after(1);
      log.released(id, amount, 0).transfer(ESCROW, seller, amount);
      receipts.push(() => log.receipt(seller, buyer, { escrow_id: id, amount }));
    }
  }
  for (const tell of it.isReversed ? receipts.toReversed() : receipts) tell();
}

function escrow(log: EventLog, it: Extract<Action, { do: "escrow" }>): void {
  const { seller, buyer, fee } = it;
  if (seller === buyer) return;
  const payee = it.payee ?? seller;
  const feeRecipient = { keeper: FEES, buyer, wallet: wallet(21) }[it.feeTo];
  const id: Hex = log.deposit(seller, buyer, { payee, fee, feeRecipient });
  log.after(1);
  if (it.delivered) log.delivered(id);
  if (it.how === "release" || it.how === "split") {
    const toSeller = it.how === "release" ? 500_000 : 200_000;
    const share = it.how === "release" ? fee : Math.floor((fee * 2) / 5);
    log.released(id, toSeller, 500_000 - toSeller, share);
    log.transfer(ESCROW, payee, toSeller - share);
    if (share > 0) log.transfer(ESCROW, feeRecipient, share);
    if (it.how === "split") log.transfer(ESCROW, buyer, 300_000);
  } else {
    if (it.how === "timeout") log.timedOut(id, it.delivered);
    else log.refunded(id, it.how === "buyer" ? buyer : seller);
    log.transfer(ESCROW, buyer, 500_000);
  }
  // A withdrawal of an earlier credit, in the same block.
  if (it.withdrawn) log.transfer(ESCROW, wallet(21), 7_000_000);
  if (it.late > 0) log.after(it.late).tick();
  if (it.receipt) log.receipt(seller, buyer, { escrow_id: id, amount: 500_000 });
}
