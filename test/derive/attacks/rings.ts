import type { Address } from "tallystick-protocol/address";
import { DAY, wallet } from "../eventLog.ts";
import { type Attack, EXCHANGE, hires, openLog, wallets } from "./scene.ts";

const S = wallet(1);
const T = wallet(2);
const F = wallet(3);

/** Rings and pairs, and honest people whose money looks like that of a ring. */
export function ringAttacks(): Attack[] {
  return [ringOf(50), ringOf(2), pair(), fewExchanges(), payroll(), factory(), marketMaker(), relayer()];
}

/** One wallet funds all. A buyer without a listing is registered by its first hire. */
function ringOf(size: number): Attack {
  const log = openLog();
  const buyers = wallets(10, size);
  log.transfer(EXCHANGE, F, 500_000 * size + 100_000);
  log.after(60).transfer(F, S, 100_000);
  log.after(2).listing(S, "text.translate");
  for (const buyer of buyers) log.after(2).transfer(F, buyer, 500_000);
  for (const buyer of buyers) hires(log, S, [buyer], 1, 100_000);
  log.after(2).transfer(S, F, 100_000 * size);
  const expected = size === 50 ? { last_30d_hire_count: 4.685479848 } : { last_30d_hire_count: 2 };
  return {
    name: `A ring of ${size} unlisted buyers that one wallet funds`,
    seller: S,
    own: [S, F, ...buyers],
    log: log.after(1).tick(),
    expected: { ...expected, independent_buyers: 0, independent_success_rate: null, kept_usdc: "0.00" },
    outcome:
      size === 50
        ? "Each buyer joins the cluster with its own first hire, so the first hires weigh more"
        : "Up to three agents are no cluster, so SHP dampens nothing",
  };
}

function pair(): Attack {
  const log = openLog();
  for (const [seller, other] of [
    [S, T],
    [T, S],
  ] as [Address, Address][]) {
    log.after(60).transfer(EXCHANGE, other, 1_000_000);
    log.listing(seller, "text.translate");
  }
  for (let n = 0; n < 12; n++) {
    hires(log, S, [T], 1, 500_000);
    hires(log, T, [S], 1, 500_000);
  }
  return {
    name: "Two sellers that buy from each other",
    seller: S,
    own: [S, T],
    log: log.tick(),
    expected: { independent_buyers: 1, kept_usdc: "0.00" },
    outcome: "Each seller has one source of money, and gets back what it pays when the other seller buys",
  };
}

function fewExchanges(): Attack {
  const log = openLog();
  const buyers = wallets(10, 10);
  log.transfer(EXCHANGE, F, 10_000_000);
  log.after(60).listing(S, "text.translate");
  // As at a real exchange, each customer has its own deposit address, and one hot wallet collects and sends the money.
  const deposits = wallets(100, 10);
  for (const [n, buyer] of buyers.entries()) {
    log.after(30).transfer(F, deposits[n] as Address, 300_000 + 7_919 * n);
    log.after(30).transfer(deposits[n] as Address, F, 300_000 + 7_919 * n);
    log.after(30).transfer(F, buyer, 250_000 + 6_101 * n);
  }
  hires(log, S, buyers, 10, 1_000);
  return {
    name: "Ten wallets whose transfers look like those of an exchange's customers",
    seller: S,
    own: [S, F, ...deposits, ...buyers],
    log: log.tick(),
    expected: { independent_buyers: 1 },
    outcome:
      "A pattern does not make a wallet a hub. The operator has to publish the wallet as a hub, or the wallet has to send 10,000 transfers",
  };
}

function payroll(): Attack {
  const log = openLog();
  const staff = wallets(10, 12);
  log.transfer(EXCHANGE, F, 100_000_000);
  log.after(60).listing(S, "text.translate");
  for (const it of staff) log.after(2).transfer(F, it, 5_000_000);
  log.after(DAY);
  hires(log, S, staff, 12, 500_000);
  return {
    name: "Honest: twelve buyers that one employer pays",
    seller: S,
    own: [],
    log: log.tick(),
    expected: { independent_buyers: 1, kept_usdc: "6.00" },
    outcome: "One buyer: their money has one source. What they paid stayed, and `kept_usdc` says so",
  };
}

function factory(): Attack {
  const log = openLog();
  const users = wallets(10, 12);
  log.after(60).listing(S, "text.translate");
  for (const [n, user] of users.entries()) {
    log.after(2).transfer(EXCHANGE, wallet(200 + n), 2_000_000);
    // The factory creates the wallet and passes on the money of its user.
    log.transfer(wallet(200 + n), F, 2_000_000);
    log.transfer(F, user, 2_000_000);
  }
  hires(log, S, users, 12, 500_000);
  return {
    name: "Honest: twelve users of one factory of smart wallets",
    seller: S,
    own: [],
    log: log.tick(),
    expected: { independent_buyers: 1, kept_usdc: "2.00" },
    outcome:
      "One buyer. If the factory's contract forwards the money itself, only the first user's withdrawal is known to be new money. An operator should publish such a contract as a hub, like an exchange",
  };
}

function marketMaker(): Attack {
  const log = openLog();
  const maker = wallet(10);
  log.transfer(EXCHANGE, maker, 1_000_000_000);
  log.after(60).listing(S, "text.translate");
  for (let n = 0; n < 300; n++) log.transfer(maker, wallet(1_000 + (n % 50)), 1_000_000);
  for (let n = 0; n < 100; n++) log.transfer(wallet(1_000 + (n % 50)), maker, 1_000_000);
  hires(log, S, [maker], 12, 500_000);
  return {
    name: "Honest: a market maker buys",
    seller: S,
    own: [],
    log: log.tick(),
    expected: { independent_buyers: 1, kept_usdc: "6.00" },
    outcome:
      "One buyer, and all that it paid stayed: the money that others send it does not come from the seller",
  };
}

function relayer(): Attack {
  const log = openLog();
  const buyers = wallets(10, 12);
  log.after(60).listing(S, "text.translate");
  for (const buyer of buyers) log.after(30).transfer(EXCHANGE, buyer, 500_000);
  // The buyers sign authorizations, and one relayer sends them. The relayer is in no transfer.
  hires(log, S, buyers, 12, 500_000);
  return {
    name: "Honest: one relayer sends twelve buyers' payments",
    seller: S,
    own: [],
    log: log.tick(),
    expected: { independent_buyers: 12 },
    outcome: "Twelve buyers: the source of a buyer's money counts, and not the sender of the transaction",
  };
}
