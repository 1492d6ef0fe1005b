import type { DeriveEvent } from "tallystick-derive/events";
import type { Facts, Hire } from "./facts.ts";

const ZERO = `0x${"0".repeat(40)}`;
const DEEP = "deep";
const DAY = 86_400;

type At = { block: number; log: number };
type Sent = At & {
  time: number;
  /** The owner of the money: the sender, or the buyer for an escrow's payout; null if it belongs to nobody. */
  from: string | null;
  to: string;
  value: bigint;
  how: "plain" | "hub" | "busy" | "mint";
  /** Whether the money moves from one wallet to another. */
  isMove: boolean;
  /** Whether its receiver had too many transfers before. Then this transfer does not count. */
  isLate: boolean;
  /** Whether its receiver has too many transfers from this one on. */
  isLast: boolean;
  isLarge: boolean;
  /** The time until which it counts as returned money; null while its receiver is not checked yet. */
  until: number | null;
  /** Whether it was checked for a hire of its receiver, and the amount that can still pay for hires. */
  wasLooked: boolean;
  left: bigint;
};
type Act = At & { wallet: string; time: number };
type Settled = At & {
  escrow: string;
  buyer: string;
  to: [address: string, value: bigint][];
  fee: bigint;
  feeRecipient: string;
};
type Deposit = Extract<DeriveEvent, { kind: "escrow.deposited" }>;

/** The data for the fields on independence, in the order of arrival. */
export type FamilyFacts = {
  sent: Sent[];
  /**
   * `spent`: the positions at which value left a wallet. `words`: those at which a wallet was registered or agreed to
   * be a payee.
   */
  spent: Act[];
  words: Act[];
  deposits: Map<string, Deposit>;
  settled: Map<string, Settled>;
  /**
   * For each hire: the account that got its money, its fee, whether it was in the window when it was counted, and the
   * part of its price that came from outside.
   */
  hires: Map<string, { account: string | null; fee: bigint; entered: boolean; brought: bigint }>;
  /**
   * Payments of buyers that money had reached earlier in the same block. Only the first sixteen payments of a buyer in
   * each block are here.
   */
  paid: { buyer: string; block: number; log: number; value: bigint }[];
  consents: Set<string>;
  traced: Set<string>;
  unreceipted: {
    id: string;
    seller: string;
    value: bigint;
    time: number;
    due: number;
    until: number | null;
    /** Whether a tick found that it has no receipt, while it was in the window. */
    isKept: boolean;
  }[];
  unanswered: { id: string; due: number; until: number | null }[];
};

export function noFamilies(): FamilyFacts {
  return {
    sent: [],
    spent: [],
    words: [],
    deposits: new Map(),
    settled: new Map(),
    hires: new Map(),
    paid: [],
    consents: new Set(),
    traced: new Set(),
    unreceipted: [],
    unanswered: [],
  };
}

const isBefore = (a: At, b: At) => a.block < b.block || (a.block === b.block && a.log < b.log);

/** Runs before the event is read, with the state before it. */
export function noteBefore(facts: Facts, event: DeriveEvent): void {
  if (event.kind === "transfer") noteTransfer(facts, event);
  if (event.kind === "escrow.deposited") facts.families.deposits.set(event.escrowId, event);
  if (event.kind === "escrow.released") noteSettled(facts, event, event);
  if (event.kind === "escrow.refunded" || event.kind === "escrow.timedOut") {
    const amount = facts.families.deposits.get(event.escrowId)?.amount ?? "0";
    noteSettled(facts, event, { toSeller: "0", toBuyer: amount, fee: "0" });
  }
}

/** Runs after the event is read. Notes who acted, which hires are new, and what is due. */
export function noteAfter(facts: Facts, event: DeriveEvent): void {
  const { families, params } = facts;
  const at = { block: event.block, log: event.kind === "tick" ? 0 : event.log, time: event.time };
  for (const [wallet, { block, log, time }] of facts.agents) {
    if (!families.words.some((it) => it.wallet === wallet && it.block === block && it.log === log))
      families.words.push({ wallet, block, log, time });
  }
  for (const key of facts.consents.keys()) {
    if (families.consents.has(key)) continue;
    families.consents.add(key);
    families.words.push({ wallet: key.split("/")[1] ?? "", ...at });
  }
  for (const hire of facts.hires) noteHire(facts, hire, at);
  for (const sent of families.sent) {
    if (sent.until !== null || !families.traced.has(sent.to) || !sent.isLarge || sent.isLate) continue;
    if (sent.from === null || sent.how !== "plain") continue;
    sent.until = sent.time + params.windowSeconds;
  }
  if (event.kind === "transfer") notePayment(facts, event);
  if (event.kind === "escrow.refunded" || event.kind === "escrow.timedOut") {
    const escrow = facts.escrows.get(event.escrowId);
    if (
      escrow !== undefined &&
      escrow.amount >= BigInt(params.minHireAtomic) &&
      !isAnswered(facts, escrow.id)
    )
      families.unanswered.push({
        id: escrow.id,
        due: event.time + params.reconcileSeconds + 1,
        until: null,
      });
  }
  if (event.kind === "tick") decide(facts);
}

function noteTransfer(facts: Facts, event: Extract<DeriveEvent, { kind: "transfer" }>): void {
  const { families, params } = facts;
  const { from, to, block, log, time } = event;
  const value = BigInt(event.value);
  const left = facts.transfers.filter((it) => it.from === from).length;
  const reached = facts.transfers.filter((it) => it.to === to).length;
  if ((value > 0n || left + 1 >= 10_000) && from !== ZERO)
    families.spent.push({ wallet: from, block, log, time });
  const isEscrow = facts.escrowContracts.has(from);
  families.sent.push({
    ...{ block, log, time, to, value },
    isMove: from !== to,
    from: value === 0n || from === to ? null : isEscrow ? payer(facts, event) : from,
    how:
      from === ZERO
        ? "mint"
        : isEscrow
          ? "plain"
          : facts.hubs.has(from)
            ? "hub"
            : left >= params.hubTransfers
              ? "busy"
              : "plain",
    isLate: reached >= params.hubTransfers,
    isLast: reached + 1 >= params.hubTransfers,
    isLarge: value >= BigInt(params.minFundingAtomic),
    until: null,
    wasLooked: false,
    left: 0n,
  });
}

function payer({ families }: Facts, event: Extract<DeriveEvent, { kind: "transfer" }>): string | null {
  const last = [...families.settled.values()]
    .filter((it) => it.escrow === event.from && it.block === event.block && it.log < event.log)
    .sort((a, b) => a.log - b.log)
    .at(-1);
  const isPayout = last?.to.some(([to, value]) => to === event.to && value === BigInt(event.value)) === true;
  return isPayout && last.buyer !== event.to ? last.buyer : null;
}

function noteSettled(
  { families }: Facts,
  { block, log, escrowId }: At & { escrowId: string },
  { toSeller, toBuyer, fee }: { toSeller: string; toBuyer: string; fee: string },
): void {
  const terms = families.deposits.get(escrowId);
  if (terms === undefined) return;
  const { escrow, buyer, seller, payee, feeRecipient } = terms;
  families.settled.set(escrowId, {
    ...{ block, log, escrow, buyer, feeRecipient },
    fee: BigInt(fee),
    to: [
      [payee === ZERO ? seller : payee, BigInt(toSeller) - BigInt(fee)],
      [feeRecipient, BigInt(fee)],
      [buyer, BigInt(toBuyer)],
    ],
  });
}

function noteHire(facts: Facts, hire: Hire, at: At & { time: number }): void {
  const { families } = facts;
  if (families.hires.has(hire.id)) return;
  const terms = families.deposits.get(hire.id);
  const settled = families.settled.get(hire.id);
  const named = terms === undefined ? (hire.receipt?.payee ?? hire.seller) : terms.payee;
  const payee = named === ZERO ? hire.seller : named;
  const acts = [...families.spent, ...families.words];
  const acted = payee === hire.seller || acts.some((it) => it.wallet === payee && isBefore(it, at));
  const isPublished = facts.params.feeRecipients.some((it) => it === settled?.feeRecipient);
  const entry = {
    account: acted ? account(facts, payee) : null,
    fee: isPublished ? (settled?.fee ?? 0n) : 0n,
    entered: hire.leavesWindow > facts.asOf,
    brought: 0n,
  };
  families.hires.set(hire.id, entry);
  if (hire.leavesWindow <= facts.asOf || familyOf(facts, hire.buyer) === DEEP) return;
  for (const wallet of wayOf(facts, hire.buyer)) families.traced.add(wallet);
  const buyerFamily = buyerFamilyOf(facts, hire);
  if (buyerFamily === ownFamilyOf(facts, hire.seller) || buyerFamily === DEEP) return;
  if (entry.account !== null && entry.account !== buyerFamily)
    entry.brought = pay(facts, hire.buyer, hadBefore(facts, hire));
}

/**
 * The part of a price that the buyer had before the block of its payment. It is how much this payment lowers the
 * buyer's lowest balance in the block.
 */
function hadBefore({ families, transfers }: Facts, { id, buyer, price }: Hire): bigint {
  const deposit = families.deposits.get(id);
  if (deposit !== undefined && families.settled.get(id)?.block !== deposit.block) return price;
  const paid = deposit ?? transfers.find((it) => `${it.tx}-${it.log}` === id);
  if (paid === undefined) throw new Error(`${id} was not paid`);
  const { block, log } = paid;
  if (isFull(families.sent, buyer, paid)) return 0n;
  const came = families.sent.filter((it) => it.to === buyer && it.block === block && it.isMove && !it.isLate);
  if (!came.some((it) => it.log < log && it.value > 0n)) return price;
  const others = families.paid.filter((it) => it.buyer === buyer && it.block === block);
  const lowest = (payments: { log: number; value: bigint }[]) => {
    const changes = [...came, ...payments.map((it) => ({ log: it.log, value: -it.value }))];
    let [balance, min] = [0n, 0n];
    for (const { value } of changes.sort((a, b) => a.log - b.log)) {
      balance += value;
      if (balance < min) min = balance;
    }
    return min;
  };
  const payment = { buyer, block, log, value: price };
  if (others.length < 16) families.paid.push(payment);
  return lowest(others) - lowest([...others, payment]);
}

/** Whether too many transfers had reached a wallet before a place. */
function isFull(sent: Sent[], wallet: string, before: At): boolean {
  const got = sent.filter((it) => it.to === wallet && isBefore(it, before));
  return got.findLast((it) => it.isLast || (it.isMove && it.value > 0n))?.isLast === true;
}

/**
 * The part of a price that transfers to a wallet can pay. At most sixteen transfers are checked for a hire, the earliest
 * first. A transfer from a wallet that funded the buyer pays only with money that this wallet itself can pay.
 */
function pay(facts: Facts, wallet: string, price: bigint, looks = { left: 16 }): bigint {
  let paid = 0n;
  const before = wayOf(facts, wallet).slice(1);
  for (const it of facts.families.sent) {
    if (paid === price) break;
    if (it.to !== wallet || it.from === null || !it.isLarge || it.isLate) continue;
    const lends = it.how === "plain" && before.includes(it.from);
    if (!it.wasLooked) {
      if (looks.left === 0) break;
      looks.left--;
      it.wasLooked = true;
      it.left = it.how !== "plain" || lends ? it.value : 0n;
    }
    const wanted = it.left < price - paid ? it.left : price - paid;
    const got = lends && wanted > 0n ? pay(facts, it.from, wanted, looks) : wanted;
    paid += got;
    it.left -= got;
    if (got === wanted) continue;
    if (looks.left === 0) break;
    it.left = 0n;
  }
  return paid;
}

function notePayment(facts: Facts, event: Extract<DeriveEvent, { kind: "transfer" }>): void {
  const it = facts.transfers.at(-1);
  if (it === undefined || it.claimed || !it.ordinary || it.presumedUntil === null) return;
  facts.families.unreceipted.push({
    id: `${event.tx}-${event.log}`,
    seller: event.to,
    value: it.value,
    time: event.time,
    due: it.presumedUntil + 1,
    until: null,
    isKept: false,
  });
}

function isAnswered(facts: Facts, id: string): boolean {
  const escrow = facts.escrows.get(id);
  return (
    escrow?.outcome === "released" ||
    escrow?.delivered === true ||
    escrow?.receipt != null ||
    escrow?.refundedBy === escrow?.seller
  );
}

/** Runs at a tick, once for each item that has waited long enough. */
function decide(facts: Facts): void {
  const { families, params, asOf } = facts;
  for (const it of families.unreceipted) {
    if (it.until !== null || asOf < it.due) continue;
    const hasHire = facts.hires.some(({ id }) => id === it.id);
    const leaves = it.time + params.windowSeconds;
    const isTold = families.unreceipted.some((other) => other.id === it.id && other.isKept);
    it.isKept = !hasHire && !isTold && leaves > asOf;
    it.until = it.isKept ? leaves : 0;
  }
  for (const it of families.unanswered) {
    if (it.until !== null || asOf < it.due) continue;
    const escrow = facts.escrows.get(it.id);
    const isOpen = !isAnswered(facts, it.id) && facts.agents.has(escrow?.seller ?? "");
    it.until = isOpen ? (escrow?.settledTime ?? 0) + params.windowSeconds : 0;
  }
}

function firstOf(acts: Act[], wallet: string): Act | undefined {
  return acts
    .filter((it) => it.wallet === wallet)
    .reduce<Act | undefined>((a, b) => (a === undefined || isBefore(b, a) ? b : a), undefined);
}

/** The owner of the money with which a wallet first paid. */
function parentOf(facts: Facts, wallet: string): string | null {
  const spent = firstOf(facts.families.spent, wallet);
  if (spent === undefined) throw new Error(`${wallet} never spent`);
  return giverOf(facts, wallet, spent);
}

/** The sender of the largest transfer to a wallet up to a position, or null if this money has no known owner. */
function giverOf(facts: Facts, wallet: string, place: At): string | null {
  const before = facts.families.sent.filter(
    (it) => it.to === wallet && it.from !== null && !it.isLate && !isBefore(place, it),
  );
  const most = before.reduce((max, it) => (it.value > max ? it.value : max), 0n);
  const first = before.find((it) => it.value === most);
  return first === undefined || first.how !== "plain" ? null : first.from;
}

function wayOf(facts: Facts, wallet: string): string[] {
  const way = [wallet];
  for (let next = parentOf(facts, wallet); next !== null; next = parentOf(facts, next)) way.push(next);
  return way;
}

export function familyOf(facts: Facts, wallet: string): string {
  const way = wayOf(facts, wallet);
  return way.length > 17 ? DEEP : (way.at(-1) ?? wallet);
}

/**
 * The family of a receiver or auditor. Its money at its first record fixes the family, or its money at its first payment
 * if that came earlier. Null if it did neither.
 */
export function ownFamilyOf(facts: Facts, wallet: string): string | null {
  const word = firstOf(facts.families.words, wallet);
  const spent = firstOf(facts.families.spent, wallet);
  if (word === undefined || (spent !== undefined && !isBefore(word, spent)))
    return spent === undefined ? null : familyOf(facts, wallet);
  const giver = giverOf(facts, wallet, word);
  if (giver === null) return wallet;
  const way = wayOf(facts, giver);
  return way.length > 16 ? DEEP : (way.at(-1) ?? giver);
}

/** Whether a buyer's money passed through a wallet. */
export function cameThrough(facts: Facts, buyer: string, wallet: string): boolean {
  return familyOf(facts, buyer) !== DEEP && wayOf(facts, buyer).slice(1).includes(wallet);
}

/** The family for which a hire counts. */
export function buyerFamilyOf(facts: Facts, { buyer, seller }: Pick<Hire, "buyer" | "seller">): string {
  return cameThrough(facts, buyer, seller) ? (ownFamilyOf(facts, seller) ?? seller) : familyOf(facts, buyer);
}

function account(facts: Facts, wallet: string): string {
  const family = ownFamilyOf(facts, wallet) ?? wallet;
  return family === DEEP ? wallet : family;
}

function isEstablished(facts: Facts, family: string): boolean {
  const spent = firstOf(facts.families.spent, family);
  if (spent === undefined || facts.asOf < spent.time + 30 * DAY) return false;
  const sellers = facts.hires
    .filter((it) => !it.isCanary && facts.asOf < it.leavesWindow && buyerFamilyOf(facts, it) === family)
    .map((it) => ownFamilyOf(facts, it.seller));
  return new Set(sellers.filter((it) => it !== family && it !== DEEP)).size >= 3;
}

/** A fraction in units of 10⁻⁹, rounded half up. */
const nano = (part: bigint, whole: bigint) => (2n * part * 1_000_000_000n + whole) / (2n * whole);

/** The figures of one seller, each from its definition. `sold` are its hires in the window. */
export function independenceOf(facts: Facts, seller: string, sold: Hire[], usdc: (atomic: bigint) => string) {
  const { families, asOf } = facts;
  const own = ownFamilyOf(facts, seller);
  const groups = Map.groupBy(sold, (it) => buyerFamilyOf(facts, it));
  const independent = [...groups].filter(([family]) => family !== own && family !== DEEP);
  const shares = independent.flatMap(([, hires]) => {
    const rated = hires.filter((it) => it.outcome !== "neutral");
    const won = rated.filter((it) => it.outcome === "success");
    return rated.length === 0 ? [] : [nano(BigInt(won.length), BigInt(rated.length))];
  });
  const sum = shares.reduce((a, b) => a + b, 0n);
  const unreceipted = families.unreceipted.filter(
    (it) => it.seller === seller && (it.until ?? 0) > asOf && !facts.hires.some(({ id }) => id === it.id),
  );
  const direct = sold.filter((it) => it.escrow === null).length;
  const contested = sold.filter((it) => it.refundAfterDelivery);
  const all = direct + unreceipted.length;
  return {
    independent_buyers: independent.length,
    established_buyers: independent.filter(([family]) => isEstablished(facts, family)).length,
    independent_success_rate:
      shares.length === 0 ? null : Number(nano(sum, BigInt(shares.length) * 1_000_000_000n)) / 1e9,
    kept_usdc: usdc(
      independent.map(([family, hires]) => keptOf(facts, seller, family, hires)).reduce((a, b) => a + b, 0n),
    ),
    fees_paid_usdc: usdc(sold.reduce((total, it) => total + (families.hires.get(it.id)?.fee ?? 0n), 0n)),
    receipt_coverage: all === 0 ? null : Number(nano(BigInt(direct), BigInt(all))) / 1e9,
    unreceipted_payments: unreceipted.length,
    unreceipted_usdc: usdc(unreceipted.reduce((total, { value }) => total + value, 0n)),
    unanswered_escrows: families.unanswered.filter(({ id, until }) => {
      const escrow = facts.escrows.get(id);
      return escrow?.seller === seller && escrow.hire === null && (until ?? 0) > asOf;
    }).length,
    refunds_contested: contested.length,
    refunds_contested_families: new Set(contested.map((it) => buyerFamilyOf(facts, it))).size,
  };
}

function keptOf(facts: Facts, seller: string, family: string, hires: Hire[]): bigint {
  const { families, asOf } = facts;
  const accountOf = (it: Hire) => families.hires.get(it.id)?.account ?? null;
  const brought = hires.reduce((total, { id }) => total + (families.hires.get(id)?.brought ?? 0n), 0n);
  const ever = facts.hires.filter(
    (it) => it.seller === seller && families.hires.get(it.id)?.entered && buyerFamilyOf(facts, it) === family,
  );
  const sources = new Set([account(facts, seller), ...ever.map(accountOf)]);
  const back = families.sent.filter(
    (it) =>
      it.until !== null &&
      it.until > asOf &&
      it.from !== null &&
      familyOf(facts, it.to) === family &&
      account(facts, it.from) !== family &&
      !cameThrough(facts, it.to, it.from) &&
      sources.has(account(facts, it.from)),
  );
  const kept = brought - back.reduce((total, { value }) => total + value, 0n);
  return kept > 0n ? kept : 0n;
}
