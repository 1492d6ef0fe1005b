import type { Address } from "tallystick-protocol/address";
import { DAY, ESCROW, wallet } from "../eventLog.ts";
import { chained } from "./lookAlikes.ts";
import { type Attack, EXCHANGE, hires, openLog, wallets } from "./scene.ts";

const S = wallet(1);
const M = wallet(2);
const TWELVE = wallets(10, 12);

/** Attacks of a stranger on an honest seller with twelve buyers, and their cost. */
export function harmAttacks(): Attack[] {
  return [
    poisoned(),
    empty(),
    gift(),
    refunder(),
    quiet(),
    deposits(),
    copies(),
    chained(),
    bound(),
    returned(),
  ];
}

function honest(buyers: readonly Address[] = TWELVE, params = {}) {
  const log = openLog(params);
  for (const buyer of [S, M, ...buyers]) log.after(60).transfer(EXCHANGE, buyer, 10_000_000);
  log.listing(S, "text.translate");
  hires(log, S, buyers, buyers.length, 500_000);
  return log;
}

function poisoned(): Attack {
  const log = honest();
  for (const victim of [S, ...TWELVE]) log.after(2).transfer(M, victim, 20_000_000);
  hires(log, S, TWELVE, 12, 500_000);
  return {
    name: "Money sent to an honest seller and its twelve buyers",
    seller: S,
    own: [M],
    log: log.tick(),
    expected: { independent_buyers: 12, kept_usdc: "12.00" },
    outcome: "Still 12 buyers: what a wallet gets after its first act changes nothing",
  };
}

function empty(): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, M, 1_000_000);
  for (const victim of [S, ...TWELVE]) log.after(2).transfer(M, victim, 0);
  for (const victim of [S, ...TWELVE]) log.after(2).transfer(victim, M, 0);
  for (const buyer of [S, ...TWELVE]) log.after(60).transfer(EXCHANGE, buyer, 1_000_000);
  log.listing(S, "text.translate");
  hires(log, S, TWELVE, 12, 500_000);
  return {
    name: "Transfers of 0 USDC, to newcomers and in their names",
    seller: S,
    own: [M],
    log: log.tick(),
    expected: { independent_buyers: 12 },
    outcome: "No effect: such a transfer is neither an inflow nor an act",
  };
}

function gift(): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, M, 20_000_000);
  for (const buyer of [S, ...TWELVE]) log.after(60).transfer(EXCHANGE, buyer, 1_000_000);
  for (const buyer of TWELVE.slice(0, 6)) log.after(2).transfer(M, buyer, 1_000_001);
  log.listing(S, "text.translate");
  hires(log, S, TWELVE, 12, 500_000);
  return {
    name: "Six newcomers captured before their first act, by a gift larger than all that they had",
    seller: S,
    own: [M],
    log: log.tick(),
    expected: { independent_buyers: 7, kept_usdc: "6.00" },
    outcome:
      "Six of the twelve count as one. Each gift has to be larger than all that the newcomer had, and the newcomer keeps the gift",
  };
}

function refunder(): Attack {
  const others = wallets(30, 99);
  const log = honest(others);
  for (let n = 0; n < 12; n++) {
    const id = log.after(60).deposit(S, M);
    log.delivered(id).refunded(id, M).transfer(ESCROW, M, 500_000);
  }
  return {
    name: "One buyer gets twelve hires refunded after delivery; 99 others are satisfied",
    seller: S,
    own: [M],
    log: log.after(1).tick(),
    expected: {
      success_rate: 0.891891892,
      independent_success_rate: 0.99,
      refunds_contested: 12,
      refunds_contested_families: 1,
    },
    outcome:
      "SHP's rate falls below the 0.9 that Tier 2 needs. With one vote for each family the rate is 0.99, and `refunds_contested_families` shows that one family did it",
  };
}

function quiet(): Attack {
  const log = honest();
  for (let n = 0; n < 12; n++) log.after(2).transfer(M, S, 1_000, { authorized: true });
  return {
    name: "Twelve payments of 0.001 USDC without a request",
    seller: S,
    own: [M],
    log: log.after(DAY + 1).tick(),
    expected: { receipt_coverage: 0.5, unreceipted_payments: 12, unreceipted_usdc: "0.012" },
    outcome:
      "Coverage falls to a half for 0.012 USDC, which the seller keeps; `unreceipted_usdc` shows how small the sum is",
  };
}

function deposits(): Attack {
  const log = honest();
  for (let n = 0; n < 12; n++) {
    const id = log.after(2).deposit(S, M);
    log.refunded(id, M).transfer(ESCROW, M, 500_000);
  }
  return {
    name: "Twelve deposits for a seller that knows nothing of them, taken back at once",
    seller: S,
    own: [M],
    log: log.after(DAY + 1).tick(),
    expected: { unanswered_escrows: 12, success_rate: 1, independent_success_rate: 1 },
    outcome: "`unanswered_escrows` counts the deposits, which cost only gas. No rate uses that figure",
  };
}

function copies(): Attack {
  const log = honest();
  for (const copy of wallets(50, 3))
    log.after(2).listing(copy, "text.translate", { endpoint: `https://${S}.example` });
  hires(log, S, TWELVE, 12, 500_000);
  return {
    name: "Three copies of a stranger's listing",
    seller: S,
    own: wallets(50, 3),
    log: log.tick(),
    expected: { cluster_size: 4, independent_buyers: 12, last_30d_hire_count: 24 },
    outcome:
      "Four agents with the same listing make a cluster, which dampens none of these hires. Families do not depend on listings",
  };
}

function bound(): Attack {
  const log = openLog();
  const victims = [S, wallet(10)] as const;
  const own = wallets(60, 2);
  log.transfer(EXCHANGE, M, 50_000_000);
  for (const it of victims) {
    log.after(60).transfer(EXCHANGE, it, 10_000_000);
    log.listing(it, "text.translate", { endpoint: `https://own-${it}.example` });
  }
  for (const it of own) {
    log.after(2).transfer(M, it, 1_000_000);
    log.listing(it, "code.review", { endpoint: `https://own-${it}.example` });
  }
  for (const it of victims) log.after(2).transfer(M, it, 3_333_334);
  hires(log, S, [wallet(10)], 12, 500_000);
  return {
    name: "Two strangers bound into a cluster by gifts",
    seller: S,
    own: [M, ...own],
    log: log.tick(),
    expected: { cluster_size: 4, independent_buyers: 1, kept_usdc: "6.00" },
    outcome: "In SHP a hire between the two weighs a quarter. Their families stay as they were",
  };
}

function returned(): Attack {
  const log = honest();
  // The seller buys services from three of its own customers.
  for (const buyer of TWELVE.slice(0, 3)) log.after(60).transfer(S, buyer, 200_000, { authorized: true });
  return {
    name: "Honest: a seller buys from three of its customers",
    seller: S,
    own: [],
    log: log.after(1).tick(),
    expected: { independent_buyers: 12, kept_usdc: "5.40" },
    outcome:
      "What the seller pays these customers is subtracted, because `kept_usdc` is a net figure, between honest partners too",
  };
}
