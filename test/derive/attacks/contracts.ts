import type { Address } from "tallystick-protocol/address";
import { ESCROW, wallet } from "../eventLog.ts";
import { type Attack, CAPABILITIES, EXCHANGE, FULL, hires, openLog, type Scale, wallets } from "./scene.ts";

const S = wallet(1);
const F = wallet(2);
const P = wallet(3);
const POOL = wallet(4);
const TEN = wallets(10, 10);
const TWELVE = wallets(10, 12);
const SIX = TWELVE.slice(0, 6);

/** Attacks with money through contracts, dust, the order of events in one block, payees, and refunds. */
export function contractAttacks(scale: Scale = FULL): Attack[] {
  return [
    loan(scale),
    loanByAnother(scale),
    loanThenOwn(scale),
    changed(scale),
    dust(),
    inOneBlock(),
    fromTheEnd(),
    payeesBuyers(),
    refunded(),
    supplier(),
    youngPool(),
  ];
}

/** A log with a wallet of somebody else that is so busy that it counts as an exchange. */
function openPool({ busy }: Scale) {
  const log = openLog({ hubTransfers: busy });
  log.transfer(EXCHANGE, POOL, 2_000_000_000);
  for (let n = 0; n < busy; n++) log.transfer(POOL, wallet(1_000 + (n % 50)), 1);
  log.after(60).listing(S, "text.translate");
  return log;
}

function loan(scale: Scale): Attack {
  const log = openPool(scale);
  for (const [n, buyer] of TEN.entries()) {
    log.after(60).transfer(POOL, buyer, 1_000_000_000);
    log.hire(S, buyer, { amount: 1_000_000_000, capability: CAPABILITIES[n % 3] ?? "" });
    log.transfer(S, POOL, 1_000_000_000);
  }
  return {
    name: "Ten hires of 1,000 USDC, each paid with a loan from a pool, which goes back in the same block",
    seller: S,
    own: [S, ...TEN],
    log: log.after(1).tick(),
    expected: {
      trust_tier: 2,
      independent_buyers: 10,
      established_buyers: 0,
      kept_usdc: "0.00",
    },
    outcome:
      "Nothing stayed: a payment first uses what reached the buyer in the same block, and this money counts as nothing. The buyers count, because a loan is a source of money like a withdrawal",
  };
}

function loanByAnother(scale: Scale): Attack {
  const log = openPool(scale);
  for (const buyer of TEN) {
    log.after(60).transfer(POOL, buyer, 1_000_000_000);
    log.transfer(buyer, POOL, 1_000_000_000);
  }
  for (const [n, buyer] of TEN.entries()) {
    log.after(60).transfer(POOL, F, 1_000_000_000);
    log.transfer(F, buyer, 1_000_000_000);
    log.hire(S, buyer, { amount: 1_000_000_000, capability: CAPABILITIES[n % 3] ?? "" });
    log.transfer(S, F, 1_000_000_000);
    log.transfer(F, POOL, 1_000_000_000);
  }
  return {
    name: "The same, but another wallet passes the loan on, and each buyer had a loan in an earlier block",
    seller: S,
    own: [S, F, ...TEN],
    log: log.after(1).tick(),
    expected: { independent_buyers: 10, kept_usdc: "0.00" },
    outcome: "Nothing stayed: it does not matter who sends the money in that block, or in how many pieces",
  };
}

function loanThenOwn(scale: Scale): Attack {
  const log = openPool(scale);
  const X = wallet(5);
  log.transfer(EXCHANGE, F, 5_000_000);
  log.after(60).transfer(EXCHANGE, X, 1_000);
  log.after(60).transfer(X, POOL, 1_000);
  log.transfer(POOL, F, 500_000_000);
  log.transfer(F, POOL, 500_000_000);
  for (let n = 0; n < 100; n++) {
    hires(log, S, [F], 1, 5_000_000);
    log.transfer(S, X, 5_000_000);
    log.transfer(X, F, 5_000_000);
  }
  return {
    name: "5 USDC, cycled a hundred times by a buyer that once had a loan of 500 USDC for one block",
    seller: S,
    own: [S, F, X],
    log: log.after(1).tick(),
    expected: { independent_buyers: 1, kept_usdc: "500.00" },
    outcome:
      "A sum as large as the loan seems to stay. The attack needs the money for one hire, and the gas of a hundred rounds of two blocks each. A pool that takes money in and pays it out again has the same effect",
  };
}

function changed(scale: Scale): Attack {
  const log = openPool(scale);
  for (const [n, buyer] of TWELVE.entries()) {
    log.after(60).transfer(POOL, buyer, 500_000);
    log.hire(S, buyer, { capability: CAPABILITIES[n % 3] ?? "" });
  }
  return {
    name: "Honest: twelve buyers that change money at a pool and pay in the same block",
    seller: S,
    own: [],
    log: log.after(1).tick(),
    expected: { trust_tier: 2, independent_buyers: 12, kept_usdc: "0.00" },
    outcome:
      "Twelve buyers, but nothing is known to have stayed: on the chain the changed money looks like a loan. If a buyer changes money one block earlier, or pays by escrow, the payment counts in full",
  };
}

function dust(): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, F, 1_000_000);
  log.after(60).listing(S, "text.translate");
  for (const buyer of TEN) {
    log.after(60).transfer(EXCHANGE, buyer, 1);
    log.after(2).transfer(buyer, F, 1);
  }
  for (const buyer of TEN) log.after(2).transfer(F, buyer, 99_999);
  hires(log, S, TEN, 10, 99_999);
  return {
    name: "Ten wallets that spend a withdrawal of 0.000001 first, and are then lent 0.099999 each",
    seller: S,
    own: [S, F, ...TEN],
    log: log.tick(),
    expected: { trust_tier: 2, independent_buyers: 10, kept_usdc: "0.00" },
    outcome:
      "Ten buyers, for ten tiny withdrawals. What one wallet lent them is not new money, so nothing stayed",
  };
}

function inOneBlock(): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, F, 20_000_000);
  log.transfer(EXCHANGE, P, 20_000_000);
  for (const it of [S, ...TWELVE]) log.after(60).transfer(EXCHANGE, it, 1_000_000);
  for (const buyer of SIX) log.after(2).transfer(F, buyer, 1_000_001);
  // In the block of its first listing, only events before the listing count.
  log.after(2).transfer(F, S, 1_000_001);
  log.listing(S, "text.translate");
  log.transfer(P, S, 2_000_000);
  hires(log, S, TWELVE, 12, 500_000);
  return {
    name: "A seller and six newcomers captured by one giver, the seller in the block of its first listing",
    seller: S,
    own: [F, P],
    log: log.tick(),
    expected: { independent_buyers: 6, kept_usdc: "3.00" },
    outcome:
      "Six buyers: the seller is captured too, so the captured buyers are of its own family and do not count. A gift after the listing, in that same block, changes nothing. In SHP the gifts make a cluster of seven, so the seller does not reach Tier 2. Those who got the gifts keep them",
  };
}

function fromTheEnd(): Attack {
  const log = openLog();
  const chain = wallets(100, 17);
  log.transfer(EXCHANGE, F, 10_000_000);
  for (const [n, to] of chain.entries()) log.after(2).transfer(chain[n - 1] ?? F, to, 10_000_000);
  for (const it of [S, ...TWELVE]) log.after(60).transfer(EXCHANGE, it, 1_000_000);
  for (const buyer of SIX) log.after(2).transfer(chain.at(-1) as Address, buyer, 1_000_001);
  log.listing(S, "text.translate");
  hires(log, S, TWELVE, 12, 500_000);
  return {
    name: "Six newcomers that get more than they had, from the end of a chain of eighteen wallets",
    seller: S,
    own: [F, ...chain],
    log: log.tick(),
    expected: { independent_buyers: 6, kept_usdc: "3.00" },
    outcome:
      "Six buyers: the captured newcomers have no known family. So they do not count at all, not even as one buyer",
  };
}

function payeesBuyers(): Attack {
  const log = openLog();
  log.transfer(EXCHANGE, S, 1_000);
  log.after(2).transfer(S, F, 1);
  log.after(60).transfer(EXCHANGE, P, 2_000_000);
  for (const buyer of TEN) log.after(2).transfer(P, buyer, 99_999);
  log.after(2).listing(S, "text.translate", { payee: P, payee_signature: "0x02" });
  for (const [n, buyer] of TEN.entries()) {
    const capability = CAPABILITIES[n % 3] ?? "";
    const tx = log.after(2).transfer(buyer, P, 99_999, { authorized: true });
    log.receipt(S, buyer, { tx, amount: 99_999, payee: P, capability });
  }
  return {
    name: "Ten wallets that the seller's payee funds, and that pay the payee",
    seller: S,
    own: [S, F, P, ...TEN],
    log: log.tick(),
    expected: { trust_tier: 2, independent_buyers: 1, kept_usdc: "0.00" },
    outcome:
      "One buyer, because the payee's withdrawal is one source. Nothing stayed, because the payee got back what it had given",
  };
}

function refunded(): Attack {
  const log = openLog();
  const X = wallet(5);
  log.after(60).transfer(EXCHANGE, X, 1_000);
  log.after(60).transfer(X, F, 1_000);
  log.transfer(EXCHANGE, F, 5_000_000);
  log.listing(S, "text.translate");
  for (let n = 0; n < 10; n++) {
    // The half that comes back to the buyer pays for the next hire.
    const id = log.after(2).deposit(S, F, { amount: 5_000_000 });
    log.delivered(id).released(id, 2_500_000, 2_500_000);
    log.transfer(ESCROW, S, 2_500_000);
    log.transfer(ESCROW, F, 2_500_000);
    log.after(2).transfer(S, X, 2_500_000);
    log.transfer(X, F, 2_500_000);
  }
  return {
    name: "5 USDC, ten times through an escrow that gives half back; the seller returns the rest by a third wallet",
    seller: S,
    own: [S, F, X],
    log: log.after(1).tick(),
    expected: { independent_buyers: 1, kept_usdc: "5.00" },
    outcome: "5 USDC stayed: neither what an escrow gives back nor what another wallet returns is new money",
  };
}

function supplier(): Attack {
  const log = openLog();
  const M = wallet(5);
  for (const it of [S, ...TWELVE]) log.after(60).transfer(EXCHANGE, it, 10_000_000);
  log.listing(S, "text.translate");
  hires(log, S, TWELVE, 12, 500_000);
  log.after(60).hire(M, S, { amount: 6_000_000 });
  for (const buyer of TWELVE) log.after(2).transfer(M, buyer, 500_000);
  return {
    name: "A supplier got its first money from the seller, and gives it to the seller's customers",
    seller: S,
    own: [M],
    log: log.after(1).tick(),
    expected: { independent_buyers: 12, kept_usdc: "0.00" },
    outcome:
      "Nothing seems to stay: a wallet that first spends a seller's money is of the seller's family, so its gifts count as money that came back. The supplier loses what it had earned",
  };
}

function youngPool(): Attack {
  const log = openLog();
  const owner = wallet(5);
  log.transfer(EXCHANGE, owner, 100_000_000);
  log.after(60).transfer(owner, POOL, 100_000_000);
  for (const it of [S, ...TWELVE]) log.after(60).transfer(POOL, it, 1_000_000);
  log.listing(S, "text.translate");
  hires(log, S, TWELVE, 12, 500_000);
  return {
    name: "Honest: a seller and twelve buyers who changed their money at one new pool",
    seller: S,
    own: [],
    log: log.tick(),
    expected: { independent_buyers: 0, kept_usdc: "0.00" },
    outcome:
      "No independent buyer, until the pool has sent 10,000 transfers or is published as a hub: the money of the buyers and of the seller has one source. In SHP they are one cluster",
  };
}
