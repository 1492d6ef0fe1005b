import { type Address, ZERO_ADDRESS } from "tallystick-protocol/address";
import { DAY, ESCROW, type EventLog, HOUR, START, wallet } from "../eventLog.ts";
import { type Attack, EXCHANGE, hires, openLog, wallets } from "./scene.ts";

const S = wallet(1);
const F = wallet(2);
const P = wallet(3);
const TEN = wallets(10, 10);
const TWELVE = wallets(10, 12);

/** What somebody would do with 100 USDC who has read all of the page. */
export function furtherAttacks(): Attack[] {
  return [
    listedFirst(),
    bridged(),
    thirdWallet(),
    throughExchange(),
    pieces(),
    payee(),
    takenBack(),
    flooded(),
    breaching(),
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
    expected: { trust_tier: 2, independent_buyers: 10, established_buyers: 0, kept_usdc: "0.99999" },
    outcome:
      "Ten, for nothing: who lists is registered, and money that comes later moves no family. Nor is it seen that it goes round. Look at `established_buyers`",
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
    outcome: "Ten: a mint is a source, as a withdrawal from an exchange is",
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
    expected: { independent_buyers: 1, kept_usdc: "500.00" },
    outcome:
      "All of it seems to stay: only what the seller's side itself sends back is seen. The buyers are still one",
  };
}

function throughExchange(): Attack {
  const log = openLog();
  const others = wallets(30, 2);
  for (const seller of [S, ...others]) log.after(2).listing(seller, "text.translate");
  for (let day = 0; day < 32; day++) {
    for (const buyer of TEN) log.after(60).transfer(EXCHANGE, buyer, 10_000_000);
    // Once, from two sellers more: who buys from three counts as established when it is 30 days old.
    if (day === 30)
      for (const seller of others) for (const buyer of TEN) log.hire(seller, buyer, { amount: 1_000 });
    hires(log, S, TEN, 10, day === 30 ? 9_998_000 : 10_000_000);
    log.after(60).transfer(S, EXCHANGE, day === 30 ? 99_980_000 : 100_000_000);
    if (day === 30) for (const seller of others) log.transfer(seller, EXCHANGE, 10_000);
    log.after(DAY);
  }
  return {
    name: "100 USDC through an exchange, once a day for a month",
    seller: S,
    own: [S, ...others, ...TEN],
    log: log.tick(),
    expected: { independent_buyers: 10, established_buyers: 10, last_30d_hire_count: 290 },
    outcome:
      "Ten established buyers and 2,900 USDC a month, for gas and the exchange's fees: the limit of what can be seen on a chain",
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
    outcome: "All of it seems to stay: a piece below `minFundingAtomic` funds nobody, and gives nothing back",
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
      "They are not looked for: a payee may be paid for others. Who pays another wallet than the seller's sees it in the listing",
  };
}

function takenBack(): Attack {
  const own = wallets(40, 12);
  const log = honest([...TWELVE, ...own]);
  log.listing(S, "text.translate");
  hires(log, S, TWELVE, 12, 500_000);
  for (const buyer of own) refund(log.after(60), buyer);
  return {
    name: "Twelve withdrawals, each takes one hire back after delivery, against twelve buyers",
    seller: S,
    own,
    log: log.after(1).tick(),
    expected: { success_rate: 0.5, independent_success_rate: 0.5, refunds_contested_families: 12 },
    outcome:
      "One family, one vote: for as many withdrawals as there are buyers a rate is halved. `refunds_contested_families` shows it. Where a listing agreed to audits, those refunds are audited, and what was good work is neutral",
  };
}

function refund(log: EventLog, buyer: Address): void {
  const id = log.deposit(S, buyer);
  log.delivered(id).refunded(id, buyer).transfer(ESCROW, buyer, 500_000);
}

function flooded(): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, F, 20_000);
  // More than that counts for nothing, so that what the two are really funded with comes too late.
  for (let n = 0; n < 10_000; n++) for (const it of TWELVE.slice(0, 2)) log.transfer(F, it, 1);
  for (const buyer of [S, ...TWELVE]) log.after(60).transfer(EXCHANGE, buyer, 500_000);
  log.listing(S, "text.translate");
  hires(log, S, TWELVE, 12, 500_000);
  return {
    name: "Two newcomers flooded with 10,000 transfers of 0.000001 before they are funded",
    seller: S,
    own: [F],
    log: log.tick(),
    expected: { independent_buyers: 11, kept_usdc: "6.00" },
    outcome: "Two of twelve count as one: for the gas of 20,000 transfers to wallets that are not in use yet",
  };
}

function breaching(): Attack {
  const [others, own] = [wallets(100, 99), wallets(40, 3)];
  const log = honest([...others, ...own]);
  log.listing(S, "text.translate");
  const guarantee = {
    ...{ metric: "success_rate", target: "0.95", measurement_window: "30 days", breach_threshold: "0.9" },
    penalty: { type: "temporary_suspension", duration: "7 days" },
  };
  log.record("sla", S, { agent_id: S, version: "1", guarantees: [guarantee], issued_at: log.time });
  log.after(START + DAY - log.time);
  hires(log, S, others, 99, 500_000);
  for (let n = 0; n < 12; n++) refund(log.after(60), own[n % 3] as Address);
  for (let slot = 0; slot < 12; slot++) log.after(HOUR / 12).tick();
  return {
    name: "Three withdrawals take twelve hires back, to breach the SLA of a seller with 99 buyers",
    seller: S,
    own,
    log,
    breaches: 1,
    expected: { success_rate: 0.891891892, independent_success_rate: 0.970588235, refunds_contested: 12 },
    outcome:
      "Its guarantee of 90 % is breached, for gas: two families would breach nothing. The seller has seven days to dispute. Where it agreed to audits, those refunds are audited",
  };
}
