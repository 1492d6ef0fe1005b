import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { DAY, ESCROW, type EventLog, HOUR, START, wallet } from "../eventLog.ts";
import { type Attack, EXCHANGE, FULL, hires, openLog, type Scale, wallets } from "./scene.ts";

const S = wallet(1);
const F = wallet(2);
const P = wallet(3);
const TEN = wallets(10, 10);
const TWELVE = wallets(10, 12);

/** Attacks of somebody who has 100 USDC and has read all of docs/independence.md. */
export function furtherAttacks(scale: Scale = FULL): Attack[] {
  return [
    listedFirst(),
    bridged(),
    thirdWallet(),
    busyWallet(scale),
    customersMoney(),
    earned(),
    listedHonestly(),
    throughExchange(scale),
    pieces(),
    payee(),
    takenBack(),
    flooded(scale),
    breaching({ others: 99, own: 3, refunds: 12, breaches: 0 }),
    breaching({ others: 99, own: 12, refunds: 12, breaches: 1 }),
    breaching({ others: 20, own: 3, refunds: 3, breaches: 1 }),
  ];
}

/** A seller and honest buyers, each with a withdrawal of its own. */
function honest(buyers: readonly Address[], amount = 500_000): EventLog {
  const log = openLog();
  for (const buyer of [S, ...buyers]) log.after(60).transfer(EXCHANGE, buyer, amount);
  return log;
}

function listedFirst(): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, F, 1_000_000);
  log.after(60).listing(S, "text.translate");
  for (const buyer of TEN) log.after(2).listing(buyer, "text.summarize");
  for (const buyer of TEN) log.after(2).transfer(F, buyer, 99_999);
  hires(log, S, TEN, 10, 99_999);
  for (let n = 0; n < 9; n++) log.after(2).transfer(S, F, 100_000);
  return {
    name: "Ten wallets that list something before one wallet funds them",
    seller: S,
    own: [S, F, ...TEN],
    log: log.after(1).tick(),
    expected: { trust_tier: 2, independent_buyers: 1, established_buyers: 0, kept_usdc: "0.00" },
    outcome:
      "One buyer: a buyer's family is fixed when it first spends. An earlier listing costs nothing, and changes nothing",
  };
}

function bridged(): Attack {
  const log = openLog();
  log.listing(S, "text.translate");
  for (const buyer of TEN) log.after(60).transfer(ZERO_ADDRESS, buyer, 1_000);
  hires(log, S, TEN, 10, 1_000);
  return {
    name: "Ten wallets that a bridge mints to",
    seller: S,
    own: [S, ...TEN],
    log: log.tick(),
    expected: { independent_buyers: 10, established_buyers: 0 },
    outcome: "Ten buyers: a mint is a source, like a withdrawal from an exchange",
  };
}

function thirdWallet(): Attack {
  const log = openLog();
  const X = wallet(4);
  log.transfer(EXCHANGE, F, 5_000_000);
  log.after(60).transfer(EXCHANGE, X, 1_000);
  log.after(60).transfer(X, F, 1_000);
  log.listing(S, "text.translate");
  for (let n = 0; n < 100; n++) {
    hires(log, S, [F], 1, 5_000_000);
    log.transfer(S, X, 5_000_000);
    log.transfer(X, F, 5_000_000);
  }
  return {
    name: "5 USDC, cycled a hundred times through a wallet with a withdrawal of its own",
    seller: S,
    own: [S, F, X],
    log: log.after(1).tick(),
    expected: { independent_buyers: 1, kept_usdc: "5.00" },
    outcome:
      "5 USDC stayed: a family cannot leave more with its sellers than it brought from outside. The path of the money does not matter",
  };
}

function busyWallet({ busy }: Scale): Attack {
  const log = openLog({ hubTransfers: busy });
  const X = wallet(4);
  log.transfer(EXCHANGE, F, 5_000_000);
  log.after(60).transfer(EXCHANGE, X, 1_000);
  for (let n = 0; n < busy; n++) log.transfer(X, S, 0);
  log.after(60).listing(S, "text.translate");
  for (let n = 0; n < 100; n++) {
    hires(log, S, [F], 1, 5_000_000);
    log.transfer(S, X, 5_000_000);
    log.transfer(X, F, 5_000_000);
  }
  return {
    name: "5 USDC, cycled a hundred times through a wallet made busy by 10,000 empty transfers",
    seller: S,
    own: [S, F, X],
    log: log.after(1).tick(),
    expected: { independent_buyers: 1, kept_usdc: "500.00" },
    outcome:
      "All of it seems to stay, for the gas of 10,000 transfers, because such a wallet looks like an exchange. It is still one buyer",
  };
}

function customersMoney(): Attack {
  const log = openLog();
  const [customer, between, buyer] = [wallet(40), wallet(41), wallet(42)] as const;
  log.transfer(EXCHANGE, customer, 100_000_000);
  log.after(60).listing(S, "text.translate");
  hires(log, S, [customer], 1, 5_000_000);
  for (let n = 0; n < 10; n++) {
    log.after(60).transfer(S, between, 5_000_000);
    log.transfer(between, buyer, 5_000_000);
    hires(log, S, [buyer], 1, 5_000_000);
  }
  return {
    name: "A seller that buys from itself with what a rich customer paid",
    seller: S,
    own: [S, between, buyer],
    log: log.after(1).tick(),
    expected: { independent_buyers: 1, kept_usdc: "5.00" },
    outcome:
      "The attacker gains nothing: money that came through the seller counts as the seller's, no matter whose it was before",
  };
}

function earned(): Attack {
  const log = openLog();
  const [customer, helper] = [wallet(40), wallet(41)] as const;
  log.transfer(EXCHANGE, customer, 10_000_000);
  log.after(60).listing(S, "text.translate");
  log.listing(helper, "code.review");
  hires(log, helper, [customer], 1, 500_000);
  hires(log, S, [customer], 6, 500_000);
  hires(log, S, [helper], 1, 400_000);
  return {
    name: "Honest: a customer buys from a seller, and so does somebody who got their first money from this customer",
    seller: S,
    own: [],
    log: log.after(1).tick(),
    expected: { independent_buyers: 1, kept_usdc: "3.40" },
    outcome:
      "One buyer: both have money from one source. The second would be a family of its own if the largest sum before its first act had come from elsewhere",
  };
}

function listedHonestly(): Attack {
  const log = openLog();
  log.listing(S, "text.translate");
  for (const buyer of TWELVE) log.after(60).transfer(EXCHANGE, buyer, 1_000_000);
  hires(log, S, TWELVE, 12, 500_000);
  log.after(60).transfer(S, P, 3_000_000);
  hires(log, S, TWELVE, 12, 500_000);
  return {
    name: "Honest: a seller that lists before its first money, and spends what it earned",
    seller: S,
    own: [],
    log: log.tick(),
    expected: { independent_buyers: 12, kept_usdc: "12.00" },
    outcome: "Twelve buyers: a seller's family is fixed when it registers, so no customer gets into it later",
  };
}

function throughExchange({ days }: Scale): Attack {
  const log = openLog();
  const others = wallets(30, 2);
  for (const seller of [S, ...others]) log.after(2).listing(seller, "text.translate");
  for (let day = 0; day < 32; day += days) {
    for (const buyer of TEN) log.after(60).transfer(EXCHANGE, buyer, 10_000_000);
    // Each buys once from two more sellers, because a buyer of three sellers counts as established when it is 30 days
    // old.
    if (day === 30)
      for (const seller of others) for (const buyer of TEN) log.hire(seller, buyer, { amount: 1_000 });
    hires(log, S, TEN, 10, day === 30 ? 9_998_000 : 10_000_000);
    log.after(60).transfer(S, EXCHANGE, day === 30 ? 99_980_000 : 100_000_000);
    if (day === 30) for (const seller of others) log.transfer(seller, EXCHANGE, 10_000);
    log.after(days * DAY);
  }
  return {
    name: "100 USDC through an exchange, once a day for a month",
    seller: S,
    own: [S, ...others, ...TEN],
    log: log.tick(),
    expected: {
      independent_buyers: 10,
      established_buyers: 10,
      ...(days === 1 && { last_30d_hire_count: 290 }),
    },
    outcome:
      "Ten established buyers and 2,900 USDC a month, for gas and the exchange's fees. The chain alone cannot show that this is one owner",
  };
}

function pieces(): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, F, 6_000_000);
  log.listing(S, "text.translate");
  hires(log, S, [F], 12, 500_000);
  for (let n = 0; n < 60; n++) log.transfer(S, F, 99_999);
  return {
    name: "6 USDC that go back in sixty pieces of 0.099999",
    seller: S,
    own: [S, F],
    log: log.after(1).tick(),
    expected: { independent_buyers: 1, kept_usdc: "6.00" },
    outcome:
      "6 USDC seem to stay, because pieces below `minFundingAtomic` do not count as money that comes back. This works once: money that went round is not new money, so a second round adds nothing",
  };
}

function payee(): Attack {
  const log = honest(TWELVE, 1_000_000);
  log.transfer(P, F, 1);
  log.listing(S, "text.translate", { payee: P, payee_signature: "0x02" });
  for (const [n, buyer] of TWELVE.entries()) {
    const capability = ["text.translate", "code.review", "chart.generate"][n % 3] ?? "";
    const tx = log.after(2).transfer(buyer, P, 500_000, { authorized: true });
    log.receipt(S, buyer, { tx, amount: 500_000, payee: P, capability });
  }
  for (const buyer of TWELVE) log.after(2).transfer(buyer, P, 500_000, { authorized: true });
  return {
    name: "Twelve payments to a payee's wallet that get no receipt",
    seller: S,
    own: [S, P],
    log: log.after(DAY + 1).tick(),
    expected: { independent_buyers: 12, receipt_coverage: 1, unreceipted_payments: 0 },
    outcome:
      "A node does not look for such payments, because a payee may be paid for other sellers too. From the listing a buyer can see that it pays a wallet that is not the seller's",
  };
}

function takenBack(): Attack {
  const own = wallets(40, 12);
  const log = honest([...TWELVE, ...own]);
  log.listing(S, "text.translate");
  hires(log, S, TWELVE, 12, 500_000);
  for (const buyer of own) refund(log.after(60), buyer);
  return {
    name: "Twelve buyers, each with a withdrawal of its own, get a hire refunded after delivery; twelve others are satisfied",
    seller: S,
    own,
    log: log.after(1).tick(),
    expected: { success_rate: 0.5, independent_success_rate: 0.5, refunds_contested_families: 12 },
    outcome:
      "Each family has one vote. So an attacker that makes as many withdrawals as the seller has buyers can halve the rate. `refunds_contested_families` shows this. Where a listing agreed to audits, those refunds are audited, and a hire whose work was good becomes neutral",
  };
}

function refund(log: EventLog, buyer: Address): void {
  const id = log.deposit(S, buyer);
  log.delivered(id).refunded(id, buyer).transfer(ESCROW, buyer, 500_000);
}

function flooded({ busy }: Scale): Attack {
  const log = openLog({ hubTransfers: busy });
  log.transfer(EXCHANGE, F, 20_000);
  // Transfers above this number do not count. So the real funding of the two newcomers comes too late.
  for (let n = 0; n < busy; n++) for (const it of TWELVE.slice(0, 2)) log.transfer(F, it, 1);
  for (const buyer of [S, ...TWELVE]) log.after(60).transfer(EXCHANGE, buyer, 500_000);
  log.listing(S, "text.translate");
  hires(log, S, TWELVE, 12, 500_000);
  return {
    name: "Two newcomers flooded with 10,000 transfers of 0.000001 before they are funded",
    seller: S,
    own: [F],
    log: log.tick(),
    expected: { independent_buyers: 11, kept_usdc: "5.00" },
    outcome:
      "Two of twelve count as one, and what they pay is not known to be new money. The attack costs the gas of 20,000 transfers, and works only on wallets that are not in use yet",
  };
}

const WORDS: { [n: number]: string } = { 3: "Three", 12: "Twelve" };

function breaching(it: { others: number; own: number; refunds: number; breaches: number }): Attack {
  const [others, own] = [wallets(100, it.others), wallets(40, it.own)];
  const log = honest([...others, ...own]);
  log.listing(S, "text.translate");
  const guarantee = {
    ...{ metric: "success_rate", target: "0.95", measurement_window: "30 days", breach_threshold: "0.9" },
    penalty: { type: "temporary_suspension", duration: "7 days" },
  };
  log.record("sla", S, { agent_id: S, version: "1", guarantees: [guarantee], issued_at: log.time });
  log.after(START + DAY - log.time);
  hires(log, S, others, it.others, 500_000);
  for (let n = 0; n < it.refunds; n++) refund(log.after(60), own[n % it.own] as Address);
  for (let slot = 0; slot < 12; slot++) log.after(HOUR / 12).tick();
  const rates = { success_rate: rate(it.others, it.others + it.refunds) };
  return {
    name: `${WORDS[it.own]} buyers, with a withdrawal each, get ${it.refunds} hires refunded, to breach the SLA of a seller with ${it.others} other buyers`,
    seller: S,
    own,
    log,
    breaches: it.breaches,
    expected: { ...rates, independent_success_rate: rate(it.others, it.others + it.own) },
    outcome:
      it.breaches === 0
        ? "No breach: the guarantee must also be broken when each family of buyers has one vote"
        : "The seller's guarantee of 90 % is breached. This takes at least three withdrawals, and more than a ninth of the number of the seller's families of buyers. Each withdrawal needs the money of a hire until the hire is refunded. The seller has seven days to dispute the breach. Where it agreed to audits, those refunds are audited",
  };
}

const rate = (part: number, whole: number) => Math.round((part / whole) * 1e9) / 1e9;
