import { neededOverlap, tokensOf } from "tallystick-derive/fingerprint/tokens";
import type { Row } from "tallystick-derive/tables";
import type { Address } from "tallystick-protocol/address";
import { defineParams } from "tallystick-protocol/records/params";
import { ESCROW, wallet } from "../eventLog.ts";
import { type Attack, EXCHANGE, hires, openLog } from "./scene.ts";

const [S, B, M] = [wallet(1), wallet(3), wallet(2)];
/** The first of the wallets whose listings make the chain. */
const FIRST = 1_000;

/** The part of a live listing that the attack chooses. */
type Offer = { capability: string; endpoint: string; mode: string };

const offers = (of: Address, capabilities: readonly string[]): Offer[] =>
  capabilities.map((capability) => ({ capability, endpoint: `https://${of}.example`, mode: "direct" }));
/** The same offer with other modes of payment. Each mode is one more token of the fingerprint. */
const inModes = (offer: Offer): Offer[] =>
  Array.from({ length: 19 }, (_, n) => ({ ...offer, mode: `platform_escrow:number${n}` }));

/**
 * A chain of sets of offers, from one agent's offers to another agent's offers. The offers of the two agents have
 * nothing in common. Each set counts as similar to the set before it. Offers in many modes of payment fill the sets.
 */
function chainBetween(a: Offer[], b: Offer[]): Offer[][] {
  const [[first], [last]] = [a, b];
  if (first === undefined || last === undefined) return [];
  const [before, after] = [inModes(first), inModes(last)];
  const steps: { add?: Offer; remove?: Offer }[] = [
    ...[...before, ...b, ...after].map((add) => ({ add })),
    ...[...before, ...a.toReversed(), ...after].map((remove) => ({ remove })),
  ];
  const chain: Offer[][] = [a];
  let here = a;
  for (const { add, remove } of steps) {
    const next = add === undefined ? here.filter((it) => it !== remove) : [...here, add];
    if (!areAlike(chain.at(-1) ?? [], next)) chain.push(here);
    here = next;
  }
  return [...chain, here];
}

function areAlike(a: Offer[], b: Offer[]): boolean {
  const [left, right] = [tokens(a), tokens(b)];
  const shared = left.filter((it) => right.includes(it)).length;
  return shared >= neededOverlap(left.length, right.length, defineParams().fingerprintSimilarity);
}

function tokens(its: Offer[]): string[] {
  const same = { priceUsdc: "0.50", maxLatencyMs: 1000 };
  return tokensOf(its.map((it) => ({ ...it, ...same, paymentMode: it.mode }) as unknown as Row<"listing">));
}

/** A chain of similar listings puts a seller and its customer into one cluster, although the customer sells something else. */
export function chained(): Attack {
  const log = openLog();
  for (const it of [S, M, B]) log.after(60).transfer(EXCHANGE, it, 10_000_000);
  const [sold, bought] = [
    offers(S, ["text.translate", "code.review"]),
    offers(B, ["chart.generate", "data.extract"]),
  ];
  const list = (agent: Address, its: Offer[]) => {
    for (const { capability, endpoint, mode } of its)
      log.listing(agent, capability, { endpoint, payment_mode: mode });
  };
  list(S, sold);
  list(B, bought);
  const own = chainBetween(sold, bought).flatMap((its, n) =>
    [0, 1].map((copy) => {
      const agent = wallet(FIRST + 2 * n + copy);
      list(agent, its);
      return agent;
    }),
  );
  hires(log, S, [B], 12, 500_000);
  const id = log.after(60).deposit(S, M);
  log.delivered(id).refunded(id, M).transfer(ESCROW, M, 500_000);
  return {
    name: "A chain of look-alikes between a seller and its customer, and one refund",
    seller: S,
    own: [M, ...own],
    log: log.after(1).tick(),
    expected: {
      cluster_size: own.length + 2,
      trust_tier: 0,
      independent_buyers: 2,
      independent_success_rate: 0.5,
    },
    outcome:
      "The longer the chain is, the less a hire between the two weighs. So one refund outweighs all twelve hires. The attack needs two agents that have two or more listings. Hires of buyers that list nothing weigh 1, and families do not depend on listings",
  };
}
