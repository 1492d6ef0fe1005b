import { agentRow, updateAgent } from "./agentRow.ts";
import { ensureAgent, isHubNow } from "./agents.ts";
import type { ApplyContext } from "./applyContext.ts";
import { addPurchase, removePurchase } from "./buyerGroups.ts";
import { changeCapability } from "./capabilities.ts";
import { sharedClusterSize } from "./clusters.ts";
import { existingRow } from "./existingRow.ts";
import type { Paid } from "./families/arrivals.ts";
import { changeBuyerFamily, stakeOf } from "./families/buyerFamilies.ts";
import { leaveUnanswered, leaveUnreceipted } from "./families/coverage.ts";
import { hireBacksNoMore, hireMayBack } from "./identities/backing.ts";
import { append, itemsOf } from "./lists.ts";
import { forEachRow } from "./loadedRows.ts";
import { addNumber, removeNumber } from "./orderedSet.ts";
import type { Outcome } from "./outcome.ts";
import { setRatingCounts } from "./ratings.ts";
import {
  add,
  formatRational,
  multiply,
  ONE,
  parseRational,
  type Rational,
  rational,
  subtract,
  ZERO,
} from "./rational.ts";
import { schedule } from "./schedule.ts";
import { percentilesOf } from "./statistics.ts";
import { noteAmended, noteSale, noteWithdrawn } from "./steward/outcomeDays.ts";
import type { Row } from "./tables.ts";

export type HireFacts = Outcome &
  Pick<
    Row<"hire">,
    | "id"
    | "seller"
    | "buyer"
    | "hireId"
    | "capability"
    | "paymentMode"
    | "amount"
    | "latencyMs"
    | "time"
    | "tx"
    | "escrowId"
    | "receipt"
  > &
  Partial<Pick<Row<"hire">, "isAuditable">> & {
    /** The account that got the money, and the place on the chain at which the money left the buyer. */
    payee: string;
    paid: Paid;
    /** How much of the money went to published recipients of fees. */
    feePaid: bigint;
  };

/**
 * Counts a hire. The caller must not count it again. Registers both sides, then fixes the hire's weight: 1, or
 * 1/cluster_size if both are in one cluster at this position (SHP §4.5.3, §9.2). Returns false and counts nothing if
 * one side is a hub or an escrow, even if it was an agent before.
 */
export function countHire(context: ApplyContext, facts: HireFacts): boolean {
  if (!mayHire(context, facts)) return false;
  ensureAgent(context, facts.seller);
  ensureAgent(context, facts.buyer);
  const hire = rowOf(context, facts);
  const { clusterSize } = hire;
  const { windowSeconds } = context.params;
  context.store.insert("hire", hire);
  if (clusterSize > 1) append(context.store, dampenedBy(hire.seller), hire.id);
  addDayVolume(context, hire, weightOf(hire));
  if (hire.inWindow) {
    changeWindow(context, hire, 1);
    schedule(context, hire.time + windowSeconds, "window", hire.id);
  }
  noteSale(context, hire);
  (hire.escrowId === null ? leaveUnreceipted : leaveUnanswered)(context, hire.id);
  hireMayBack(context, hire);
  return true;
}

/** The row of a new hire. It names every column, because copying an object and leaving out some columns is slow. */
function rowOf(context: ApplyContext, facts: HireFacts): Row<"hire"> {
  const { id, seller, buyer, hireId, capability, paymentMode, price, amount, time } = facts;
  const { windowSeconds, volumeWindowSeconds } = context.params;
  const inWindow = time > context.state.time - windowSeconds;
  const stake = stakeOf(context, { seller, buyer, price, inWindow }, facts);
  return {
    id,
    seller,
    buyer,
    hireId,
    capability,
    paymentMode,
    price,
    amount,
    outcome: facts.outcome,
    refunded: facts.refunded,
    dispute: facts.dispute,
    disputeSource: facts.disputeSource,
    silentTimeout: facts.silentTimeout,
    refundAfterDelivery: facts.refundAfterDelivery,
    evidence: facts.evidence,
    clusterSize: sharedClusterSize(context, buyer, seller),
    leavesDay: time > context.state.time - volumeWindowSeconds ? time + volumeWindowSeconds : null,
    latencyMs: facts.latencyMs,
    time,
    tx: facts.tx,
    escrowId: facts.escrowId,
    receipt: facts.receipt,
    buyerFamily: stake.buyerFamily,
    payeeAccount: stake.payeeAccount,
    brought: stake.brought,
    feePaid: facts.feePaid,
    inWindow,
    isAuditable: facts.isAuditable ?? false,
    isCanary: false,
    countedBlock: context.at.block,
    countedLog: context.at.log ?? 0,
    countedSeq: context.at.seq,
  };
}

/** True if neither side is a hub or an escrow. If one is, there is no hire, and neither side becomes an agent. */
export function mayHire(
  context: ApplyContext,
  { seller, buyer }: Pick<HireFacts, "seller" | "buyer">,
): boolean {
  return !isHubNow(context, seller) && !isHubNow(context, buyer);
}

/** Called when a hire is `volumeWindowSeconds` old. Its price leaves its seller's `dayVolume`. */
export function leaveDay(context: ApplyContext, seller: string, volume: string): void {
  changeDayVolume(context, seller, parseRational(volume), subtract);
}

/** Called when a hire leaves the window or is withdrawn. Removes the hire from every rate and count of the window. */
export function leaveWindow(context: ApplyContext, id: string): void {
  const hire = hireRow(context, id);
  if (!hire.inWindow) return;
  context.store.put("hire", { ...hire, inWindow: false });
  changeWindow(context, hire, -1);
}

/**
 * Removes a hire permanently from every figure of both sides, because an operator of audits had arranged it.
 */
export function withdrawHire(context: ApplyContext, id: string): void {
  const hire = hireRow(context, id);
  leaveWindow(context, id);
  context.store.update("hire", id, { isCanary: true });
  if (hire.leavesDay !== null && hire.leavesDay > context.state.time)
    addDayVolume(context, hire, subtract(ZERO, weightOf(hire)));
  noteWithdrawn(context, hire);
  hireBacksNoMore(context, id);
}

/** Notes that a hire may be audited. Does nothing if the hire is not counted yet: its facts will say so. */
export function markAuditable(context: ApplyContext, id: string): void {
  const hire = context.store.get("hire", id);
  if (hire === null || hire.isAuditable) return;
  context.store.update("hire", id, { isAuditable: true });
  if (!hire.inWindow) return;
  const { windowAuditable } = agentRow(context, hire.seller);
  updateAgent(context, hire.seller, { windowAuditable: windowAuditable + 1 });
}

/**
 * Changes columns of a counted hire: what the work was, or its outcome. The hire's weight, price and time stay. Its
 * buyer's rating counts unless the hire is neutral.
 */
export function amendHire(
  context: ApplyContext,
  id: string,
  change: Partial<
    Pick<
      Row<"hire">,
      "receipt" | "hireId" | "capability" | "latencyMs" | "outcome" | "evidence" | "dispute" | "disputeSource"
    >
  >,
): void {
  const hire = hireRow(context, id);
  const after = { ...hire, ...change };
  if (hire.inWindow) changeWindow(context, hire, -1);
  context.store.update("hire", id, change);
  if (hire.inWindow) changeWindow(context, after, 1);
  noteAmended(context, hire, after);
  const isNeutral = after.outcome === "neutral";
  if (isNeutral === (hire.outcome === "neutral") || hire.isCanary || hire.receipt === null) return;
  setRatingCounts(context, hire.receipt, !isNeutral);
}

/**
 * Called when clusters split because a hub was published late. Hires in the window whose sides no longer
 * share a cluster weigh 1 from now on.
 *
 * @param members all former members of those clusters
 */
export function undampen(context: ApplyContext, members: ReadonlySet<string>): void {
  forEachRow(members, (seller) =>
    forEachRow(itemsOf(context.store, dampenedBy(seller)), (id) => {
      const hire = hireRow(context, id);
      if (!hire.inWindow || hire.clusterSize === 1) return;
      if (sharedClusterSize(context, hire.buyer, hire.seller) === 1) weighFully(context, hire);
    }),
  );
}

function weighFully(context: ApplyContext, hire: Row<"hire">): void {
  changeWindow(context, hire, -1);
  context.store.update("hire", hire.id, { clusterSize: 1 });
  changeWindow(context, { ...hire, clusterSize: 1 }, 1);
  if (hire.leavesDay !== null && hire.leavesDay > context.state.time)
    addDayVolume(context, hire, subtract(ONE, weightOf(hire)));
  noteAmended(context, hire, { ...hire, clusterSize: 1 });
}

/** The list of a seller's hires that weigh less than 1, or weighed less when they were counted. */
function dampenedBy(seller: string): string {
  return `dampened/${seller}`;
}

/** Adds a hire's weighted price to its seller's `dayVolume`, until the hire leaves that volume. */
function addDayVolume(
  context: ApplyContext,
  { seller, price, leavesDay }: Pick<Row<"hire">, "seller" | "price" | "leavesDay">,
  weight: Rational,
): void {
  if (leavesDay === null) return;
  const volume = multiply(weight, rational(price));
  changeDayVolume(context, seller, volume, add);
  schedule(context, leavesDay, "day", `${seller} ${formatRational(volume)}`);
}

function changeDayVolume(
  context: ApplyContext,
  seller: string,
  volume: Rational,
  change: (a: Rational, b: Rational) => Rational,
): void {
  const { dayVolume } = agentRow(context, seller);
  updateAgent(context, seller, {
    dayVolume: formatRational(change(parseRational(dayVolume), volume)),
  });
}

/** Adds a hire to the window's sums (`by` 1), or takes it out again (−1). */
function changeWindow(context: ApplyContext, hire: Row<"hire">, by: 1 | -1): void {
  const weight = multiply(weightOf(hire), rational(BigInt(by)));
  const grow = (sum: string, counts: boolean) =>
    counts ? formatRational(add(parseRational(sum), weight)) : sum;
  const inEscrow = hire.escrowId !== null;

  const seller = agentRow(context, hire.seller);
  updateAgent(context, hire.seller, {
    windowHires: seller.windowHires + by,
    windowWeight: grow(seller.windowWeight, true),
    ratedWeight: grow(seller.ratedWeight, hire.outcome !== "neutral"),
    successWeight: grow(seller.successWeight, hire.outcome === "success"),
    escrowWeight: grow(seller.escrowWeight, inEscrow),
    refundedWeight: grow(seller.refundedWeight, inEscrow && hire.refunded),
    auditDisputedWeight: grow(seller.auditDisputedWeight, hire.disputeSource === "audit"),
    windowAuditable: seller.windowAuditable + (hire.isAuditable ? by : 0),
    windowDirect: seller.windowDirect + (inEscrow ? 0 : by),
    refundsContested: seller.refundsContested + (hire.refundAfterDelivery ? by : 0),
    feesPaid: seller.feesPaid + BigInt(by) * hire.feePaid,
  });
  if (hire.capability !== null) changeCapability(context, hire, hire.capability, by);
  if (hire.latencyMs !== null) changeLatencies(context, hire.seller, hire.latencyMs, by);
  (by === 1 ? addPurchase : removePurchase)(context, hire.buyer, hire.seller);
  changeBuyerFamily(context, hire, by);

  const buyer = agentRow(context, hire.buyer);
  updateAgent(context, hire.buyer, {
    bought: buyer.bought + by,
    sellerSum: buyer.sellerSum + BigInt(by) * BigInt(hire.seller),
    escrowBought: buyer.escrowBought + (inEscrow ? by : 0),
    silentTimeouts: buyer.silentTimeouts + (hire.silentTimeout ? by : 0),
    refundsAfterDelivery: buyer.refundsAfterDelivery + (hire.refundAfterDelivery ? by : 0),
  });
}

function changeLatencies(context: ApplyContext, seller: string, latencyMs: number, by: 1 | -1): void {
  const set = `latency/${seller}`;
  (by === 1 ? addNumber : removeNumber)(context.store, set, BigInt(latencyMs));
  const agent = agentRow(context, seller);
  const latencies = agent.latencies + by;
  const [p50 = null, p95 = null, p99 = null] =
    latencies === 0 ? [] : percentilesOf(context.store, set, latencies, [50, 95, 99]);
  const number = (value: bigint | null) => (value === null ? null : Number(value));
  updateAgent(context, seller, {
    latencies,
    latencySum: agent.latencySum + BigInt(by) * BigInt(latencyMs),
    latencyP50: number(p50),
    latencyP95: number(p95),
    latencyP99: number(p99),
  });
}

function weightOf(hire: Row<"hire">): Rational {
  return rational(1n, BigInt(hire.clusterSize));
}

function hireRow(context: ApplyContext, id: string): Row<"hire"> {
  return existingRow(context.store, "hire", id);
}
