import { register } from "./agents.ts";
import { falseRefundsOf, isContested } from "./auditContests.ts";
import type { Facts, Hire, Place, Receipt, Transfer } from "./facts.ts";
import { sharedSize } from "./groups.ts";

export function countDirect(facts: Facts, receipt: Receipt, it: Transfer, at: Place): void {
  if (isTaken(facts, receipt)) {
    receipt.status = "duplicate";
    return;
  }
  if (isAway(facts, receipt.agent) || isAway(facts, receipt.buyer)) {
    receipt.status = "unmatched";
    return;
  }
  it.claimed = true;
  const heard = facts.telemetry.get(receipt.hash);
  const passed = receipt.buyerSigned ? receipt.allPassed : (heard?.allPassed ?? receipt.allPassed);
  const hire = count(facts, at, {
    ...blank,
    id: `${it.tx}-${it.log}`,
    receipt,
    seller: receipt.agent,
    buyer: receipt.buyer,
    capability: receipt.capability,
    price: receipt.amount,
    amount: receipt.amount,
    outcome: passed ? "success" : "failure",
    latency: latencyOf(facts, receipt, it.time),
    time: it.time,
  });
  if (hire === null) receipt.status = "unmatched";
  else close(facts, receipt, hire);
}

const blank = {
  wasSeen: false,
  isRolledBack: false,
  isCanary: false,
  escrow: null,
  refunded: false,
  byAudit: false,
  silentTimeout: false,
  refundAfterDelivery: false,
};

/** Whether an address cannot be a side of a hire now, because it is a hub or the contract of an escrow. */
function isAway({ hubs, escrowContracts }: Facts, side: string): boolean {
  return hubs.has(side) || escrowContracts.has(side);
}

export function attach(facts: Facts, receipt: Receipt, at: Place): void {
  const escrow = facts.escrows.get(receipt.escrowId ?? "");
  if (escrow === undefined || receipt.status !== "pending" || escrow.receipt === receipt) return;
  if (escrow.seller !== receipt.agent || escrow.buyer !== receipt.buyer) receipt.status = "unmatched";
  else if (escrow.receipt !== null || isTaken(facts, receipt)) receipt.status = "duplicate";
  else {
    escrow.receipt = receipt;
    if (escrow.hire === null) {
      countEscrow(facts, escrow.id, at);
      return;
    }
    escrow.hire.capability = receipt.capability;
    escrow.hire.receipt = receipt;
    escrow.hire.latency = latencyOf(facts, receipt, escrow.depositedTime);
    close(facts, receipt, escrow.hire);
  }
}

export function countEscrow(facts: Facts, id: string, at: Place): void {
  const escrow = escrowOf(facts, id);
  if (escrow.settledTime === null || escrow.hire !== null) return;
  if (escrow.amount < BigInt(facts.params.minHireAtomic)) return;
  if (escrow.receipt !== null && isTaken(facts, escrow.receipt)) {
    escrow.receipt.status = "duplicate";
    escrow.receipt = null;
  }
  const { receipt } = escrow;
  if (receipt === null && !escrow.delivered) return;
  const { outcome, delivered } = escrow;
  const won = outcome === "released" && 2n * escrow.toSeller >= escrow.amount;
  const byThird =
    outcome === "refunded" && escrow.refundedBy !== escrow.buyer && escrow.refundedBy !== escrow.seller;
  // A contested refund has no effect if earlier audits found that this buyer took money back for good work.
  const isNoWord = isContested(escrow) && falseRefundsOf(facts, escrow.buyer) > 0;
  const isPublished = facts.params.feeRecipients.some((it) => it === escrow.feeRecipient);
  const got = isPublished ? escrow.toSeller : escrow.toSeller - escrow.fee;
  const isRolled = facts.audits.all.some((it) => it.hire === id && it.decision === "rollback");
  const tooLittle = got < BigInt(facts.params.minHireAtomic);
  // The recipient of an unpublished fee may be the buyer. So such a fee buys no success.
  if (won && !isRolled && got < escrow.toSeller && tooLittle) return;
  escrow.hire = count(facts, at, {
    id: escrow.id,
    receipt,
    wasSeen: false,
    isRolledBack: false,
    isCanary: false,
    seller: escrow.seller,
    buyer: escrow.buyer,
    capability: receipt?.capability ?? null,
    price: got,
    amount: escrow.amount,
    outcome: (outcome === "timed_out" && delivered) || isNoWord ? "neutral" : won ? "success" : "failure",
    escrow,
    refunded: outcome !== "released",
    byAudit: byThird && facts.params.auditArbiters.some((it) => it === escrow.arbiter),
    silentTimeout: outcome === "timed_out" && delivered,
    refundAfterDelivery: isContested(escrow),
    latency: receipt === null ? null : latencyOf(facts, receipt, escrow.depositedTime),
    time: escrow.settledTime,
  });
  if (receipt !== null && escrow.hire !== null) close(facts, receipt, escrow.hire);
}

function count(
  facts: Facts,
  at: Place,
  hire: Omit<Hire, "size" | "leavesWindow" | "leavesDay">,
): Hire | null {
  if ([hire.seller, hire.buyer].some((side) => isAway(facts, side))) return null;
  register(facts, hire.seller, at);
  register(facts, hire.buyer, at);
  const counted = {
    ...hire,
    size: sharedSize(facts, hire.buyer, hire.seller),
    leavesWindow: hire.time + facts.params.windowSeconds,
    leavesDay: hire.time + facts.params.volumeWindowSeconds,
  };
  facts.hires.push(counted);
  if (facts.audits.all.some((it) => it.hire === hire.id && it.decision === "rollback")) rollBack(counted);
  return counted;
}

function close(facts: Facts, receipt: Receipt, hire: Hire): void {
  receipt.status = "counted";
  receipt.hire = hire;
  for (const it of facts.ratings) {
    if (it.receipt !== receipt) continue;
    it.size = sharedSize(facts, hire.buyer, hire.seller);
    it.leavesWindow = it.time + facts.params.windowSeconds;
  }
}

/**
 * The first latency that can be true: the buyer's, then the seller's. It is at most an hour longer than the time since the
 * payment. The buyer's is also cut at an hour more than the time to the receipt.
 */
export function latencyOf(facts: Facts, receipt: Receipt, paid: number): number | null {
  const most = (said: number) => (Math.max(paid, said) - paid + 3_600) * 1_000;
  for (const it of [facts.telemetry.get(receipt.hash), receipt]) {
    if (it === undefined || it.latency === null || it.latency > most(it.time)) continue;
    return Math.min(it.latency, most(receipt.time));
  }
  return null;
}

function isTaken(facts: Facts, receipt: Receipt): boolean {
  return facts.receipts.some(
    (it) => it.status === "counted" && it.agent === receipt.agent && it.hireId === receipt.hireId,
  );
}

export function escrowOf(facts: Facts, id: string) {
  const escrow = facts.escrows.get(id);
  if (escrow === undefined) throw new Error(`no escrow ${id}`);
  return escrow;
}

/** Marks a hire whose work an audit found bad. */
export function rollBack(hire: Hire): void {
  hire.outcome = "failure";
  hire.byAudit = true;
  hire.isRolledBack = true;
}
