import { DAY, ESCROW, wallet } from "../eventLog.ts";
import { type Attack, EXCHANGE, FULL, hires, openLog, type Scale, wallets } from "./scene.ts";

const S = wallet(1);
const F = wallet(2);
const TEN = wallets(10, 10);

/** Attackers that buy their own work: the cost of Tier 2, and the other figures. */
export function buyingAttacks(scale: Scale = FULL): Attack[] {
  return [
    oneBuyer(true),
    oneBuyer(false),
    lent(),
    chain(),
    intermediaries(),
    payouts(),
    asHires(),
    cycled(scale),
    exchange(),
    aged(),
    byCount(scale),
  ];
}

function oneBuyer(sharesSource: boolean): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, S, 200_000);
  log.after(60).transfer(sharesSource ? S : EXCHANGE, F, 1_000);
  log.after(60).listing(S, "text.translate");
  for (let n = 0; n < 10; n++) {
    hires(log, S, [F], 1, 1_000);
    log.transfer(S, F, 1_000);
  }
  // The capability of a receipt needs no listing.
  for (const capability of ["code.review", "chart.generate"]) {
    log.after(2).hire(S, F, { amount: 1_000, capability });
    log.transfer(S, F, 1_000);
  }
  log.transfer(S, F, 100_000);
  log.after(1).tick();
  return {
    name: `One buyer of the seller's owner, ${sharesSource ? "funded by the seller" : "with a withdrawal of its own"}; the money goes back`,
    seller: S,
    own: [S, F],
    log,
    expected: { trust_tier: 2, independent_buyers: sharesSource ? 0 : 1, kept_usdc: "0.00" },
    outcome: sharesSource
      ? "Tier 2 for 0.001 USDC, which the attacker gets back; nobody independent bought"
      : "One withdrawal is one source of money, so the one buyer counts; nothing stayed",
  };
}

function lent(): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, F, 1_000_000);
  log.after(60).listing(S, "text.translate");
  for (const buyer of TEN) log.after(2).transfer(F, buyer, 99_999);
  hires(log, S, TEN, 10, 1_000);
  return {
    name: "Ten wallets that are lent 0.099999 USDC each",
    seller: S,
    own: [S, F, ...TEN],
    log: log.tick(),
    expected: { trust_tier: 2, distinct_buyers: 10, independent_buyers: 1 },
    outcome: "SHP sees ten buyers, because each loan is too small to count as funding. They are one family",
  };
}

function chain(): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, F, 1_000_000);
  log.after(60).listing(S, "text.translate");
  for (const [n, buyer] of TEN.entries()) {
    log.after(2).transfer(TEN[n - 1] ?? F, buyer, 1_000_000 - n * 1_000);
    hires(log, S, [buyer], 1, 1_000);
  }
  return {
    name: "A chain of wallets, where each funds the next",
    seller: S,
    own: [S, F, ...TEN],
    log: log.tick(),
    expected: { distinct_buyers: 10, independent_buyers: 1 },
    outcome:
      "One family, up to sixteen steps. Wallets behind a longer chain are `deep`, which counts as no family",
  };
}

function intermediaries(): Attack {
  const log = openLog();
  const between = wallets(100, 30);
  log.transfer(EXCHANGE, F, 2_000_000);
  log.after(60).listing(S, "text.translate");
  for (const [n, buyer] of TEN.entries()) {
    const way = [F, ...between.slice(3 * n, 3 * n + 3), buyer];
    for (const [step, to] of way.slice(1).entries()) log.after(2).transfer(way[step] ?? F, to, 200_000);
  }
  hires(log, S, TEN, 10, 1_000);
  return {
    name: "Three intermediaries for each of ten buyers",
    seller: S,
    own: [S, F, ...TEN, ...between],
    log: log.tick(),
    expected: { trust_tier: 2, distinct_buyers: 10, independent_buyers: 1 },
    outcome: "SHP looks back over two intermediaries; families look back over sixteen steps",
  };
}

function payouts(): Attack {
  const log = openLog();
  const front = wallet(3);
  log.transfer(EXCHANGE, F, 2_000_000);
  log.after(60).listing(S, "text.translate");
  for (const buyer of TEN) {
    const id = log.after(2).deposit(front, F, { amount: 200_000, payee: buyer });
    log.released(id, 200_000).transfer(ESCROW, buyer, 200_000);
  }
  hires(log, S, TEN, 10, 1_000);
  return {
    name: "Ten wallets funded by payouts of the escrow",
    seller: S,
    own: [S, F, front, ...TEN],
    log: log.tick(),
    expected: { distinct_buyers: 10, independent_buyers: 1 },
    outcome: "One family: a payout counts as sent by the escrow's buyer",
  };
}

function asHires(): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, F, 2_000_000);
  log.after(60).listing(S, "text.translate");
  for (const buyer of TEN) log.after(2).hire(buyer, F, { amount: 200_000 });
  hires(log, S, TEN, 10, 1_000);
  return {
    name: "Ten wallets that get their money because the attacker hires them",
    seller: S,
    own: [S, F, ...TEN],
    log: log.tick(),
    expected: { distinct_buyers: 10, independent_buyers: 1 },
    outcome:
      "One family: a payment for a hire is money like any other. What reaches a wallet before its first act decides",
  };
}

function cycled({ rounds }: Scale): Attack {
  const log = openLog();
  const B = wallet(10);
  log.transfer(EXCHANGE, F, 5_000_000);
  log.after(60).listing(S, "text.translate");
  for (let n = 0; n < rounds; n++) {
    log.after(2).transfer(F, B, 5_000_000);
    hires(log, S, [B], 1, 5_000_000);
    log.transfer(S, F, 5_000_000);
  }
  return {
    name: "5 USDC, cycled a thousand times",
    seller: S,
    own: [S, F, B],
    log: log.after(1).tick(),
    expected: { last_30d_hire_count_raw: rounds, independent_buyers: 1, kept_usdc: "0.00" },
    outcome: "A volume of 5,000 USDC, and none of it stayed",
  };
}

function exchange(): Attack {
  const log = openLog();
  log.listing(S, "text.translate");
  for (const buyer of TEN) log.after(60).transfer(EXCHANGE, buyer, 1_000);
  hires(log, S, TEN, 10, 1_000);
  return {
    name: "Ten separate withdrawals from an exchange",
    seller: S,
    own: [S, ...TEN],
    log: log.tick(),
    expected: { trust_tier: 2, independent_buyers: 10, established_buyers: 0 },
    outcome:
      "Ten families, and none is established. That is the price of this measure: one withdrawal for each family",
  };
}

function aged(): Attack {
  const log = openLog();
  const others = wallets(30, 2);
  for (const seller of [S, ...others]) log.after(2).listing(seller, "text.translate");
  for (const buyer of TEN) {
    log.after(60).transfer(EXCHANGE, buyer, 12_000);
    log.transfer(buyer, F, 1);
  }
  log.after(30 * DAY);
  for (const buyer of TEN) for (const seller of others) log.after(2).hire(seller, buyer, { amount: 1_000 });
  hires(log, S, TEN, 10, 1_000);
  return {
    name: "Ten families that the attacker bought or kept for 30 days, and that buy from three of its sellers",
    seller: S,
    own: [S, F, ...others, ...TEN],
    log: log.tick(),
    expected: { independent_buyers: 10, established_buyers: 10 },
    outcome:
      "They count. Each costs a withdrawal and 30 days. The same three sellers serve all of them, and a listing costs nothing",
  };
}

function byCount({ busy }: Scale): Attack {
  const log = openLog({ hubTransfers: busy });
  log.transfer(EXCHANGE, F, 1_000_000);
  log.after(60).listing(S, "text.translate");
  for (let n = 0; n < busy; n++) log.transfer(F, S, 0);
  log.after(60);
  for (const buyer of TEN) log.transfer(F, buyer, 2_000);
  hires(log, S, TEN, 10, 1_000);
  return {
    name: "A sender made busy by 10,000 empty transfers",
    seller: S,
    own: [S, F, ...TEN],
    log: log.tick(),
    expected: { independent_buyers: 10, established_buyers: 0 },
    outcome: "Ten families, for the gas of 10,000 transfers. Ten withdrawals have the same result for less",
  };
}
