import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { ensureAgent } from "./agents.ts";
import type { ApplyContext } from "./applyContext.ts";
import { isContested, refundContested } from "./audits/contested.ts";
import { auditedOutcome } from "./audits/effects.ts";
import { awaitDisclosure, depositReceipted } from "./audits/eligibility.ts";
import type {
  EscrowDelivered,
  EscrowDeposited,
  EscrowRefunded,
  EscrowReleased,
  EscrowTimedOut,
} from "./events.ts";
import { arrivedBefore } from "./families/arrivals.ts";
import { awaitAnswer } from "./families/coverage.ts";
import { noteSettlement } from "./families/payouts.ts";
import { hireKeyTaken } from "./hireKeys.ts";
import { amendHire, countHire } from "./hires.ts";
import { itemsOf } from "./lists.ts";
import { forEachRow } from "./loadedRows.ts";
import { escrowOutcome, isTakenBack, publishedFee } from "./outcome.ts";
import { receiptCounted } from "./receiptCounted.ts";
import { receiptRow, waitingForDeposit } from "./receiptRow.ts";
import type { Row } from "./tables.ts";
import { latencyOf, saidNothingCame } from "./telemetry.ts";
import { markWallet } from "./wallets.ts";

/**
 * Called when an escrow receives its money. The buyer becomes an agent. The seller's figures stay as they are, because
 * anyone can make a deposit that names the seller.
 */
export function escrowDeposited(context: ApplyContext, event: EscrowDeposited): void {
  markWallet(context, event.escrow, "escrow");
  context.store.insert("escrow", {
    id: event.escrowId,
    provider: event.provider,
    escrow: event.escrow,
    hireId: event.hireId,
    buyer: event.buyer,
    seller: event.seller,
    payee: event.payee,
    amount: BigInt(event.amount),
    fee: BigInt(event.fee),
    feeRecipient: event.feeRecipient,
    deadline: event.deadline,
    arbiter: event.arbiter,
    depositedBlock: context.at.block,
    depositedLog: event.log,
    depositedTime: context.at.time,
    arrived: null,
    tx: event.tx,
    status: "held",
    delivered: false,
    resultHash: null,
    toSeller: null,
    toBuyer: null,
    feePaid: 0n,
    refundedBy: null,
    takenBack: false,
    settledTime: null,
    nothingCame: false,
    unanswered: false,
    receipt: null,
    hire: null,
  });
  // A buyer that is no agent can hire nobody. A relevant log lacks the transfers to such a buyer.
  if (ensureAgent(context, event.buyer) !== null)
    updateEscrow(context, event.escrowId, { arrived: arrivedBefore(context, event.buyer, event) });
  forEachRow(itemsOf(context.store, waitingForDeposit(event)), (id) => {
    const receipt = receiptRow(context, id);
    if (receipt.status === "pending") attachReceipt(context, receipt);
  });
}

export function escrowDelivered(context: ApplyContext, event: EscrowDelivered): void {
  updateEscrow(context, event.escrowId, { delivered: true, resultHash: event.resultHash });
}

export function escrowReleased(context: ApplyContext, event: EscrowReleased): void {
  settle(context, event.escrowId, {
    status: "released",
    toSeller: BigInt(event.toSeller),
    toBuyer: BigInt(event.toBuyer),
    feePaid: BigInt(event.fee),
  });
}

export function escrowRefunded(context: ApplyContext, event: EscrowRefunded): void {
  const { id, amount } = escrowRow(context, event.escrowId);
  settle(context, id, { status: "refunded", toSeller: 0n, toBuyer: amount, refundedBy: event.by });
}

export function escrowTimedOut(context: ApplyContext, event: EscrowTimedOut): void {
  const { amount } = escrowRow(context, event.escrowId);
  settle(context, event.escrowId, { status: "timed_out", toSeller: 0n, toBuyer: amount });
}

function settle(context: ApplyContext, id: string, change: Partial<Row<"escrow">>): void {
  const before = escrowRow(context, id);
  const wasHeld = context.at.block > before.depositedBlock;
  const arrived = wasHeld ? 0n : before.arrived;
  const after = { ...before, ...change, settledTime: context.at.time, arrived };
  const takenBack = isTakenBack(context, after);
  const nothingCame = takenBack && after.receipt !== null && saidNothingCame(context, after.receipt);
  const settled = { ...after, takenBack, nothingCame };
  context.store.put("escrow", settled);
  noteSettlement(context, settled);
  countIfDue(context, id);
  awaitAnswer(context, settled);
  refundContested(context, escrowRow(context, id));
}

/**
 * Joins a receipt to the escrow that it names. If buyer or seller differ, the receipt is marked as unmatched. If the
 * escrow or the hire has a receipt already, it is marked as a duplicate. The receipt is an act of the seller, so the
 * escrow counts for the seller once it is settled. If the escrow counts already, the receipt adds its hire id,
 * capability and latency.
 */
export function attachReceipt(context: ApplyContext, receipt: Row<"receipt">): void {
  const escrow = receipt.escrowId === null ? null : context.store.get("escrow", receipt.escrowId);
  if (escrow === null) return;
  const sameSides = escrow.seller === receipt.agent && escrow.buyer === receipt.buyer;
  if (!sameSides) {
    context.store.update("receipt", receipt.id, { status: "unmatched" });
    return;
  }
  if (escrow.receipt !== null || hireKeyTaken(context, receipt)) {
    context.store.update("receipt", receipt.id, { status: "duplicate" });
    return;
  }
  updateEscrow(context, escrow.id, { receipt: receipt.id });
  depositReceipted(
    context,
    {
      ...escrow,
      paymentMode: modeOf(escrow),
      paidAt: escrow.depositedTime,
      isContested: isContested(escrow),
    },
    receipt,
  );
  if (escrow.hire === null) {
    countIfDue(context, escrow.id);
    return;
  }
  amendHire(context, escrow.hire, {
    receipt: receipt.id,
    hireId: receipt.hireId,
    capability: receipt.capability,
    latencyMs: latencyOf(context, receipt, escrow.depositedTime),
  });
  receiptCounted(context, receipt, escrow.hire);
}

/** Counts an escrow once it is settled and its seller has acted, by marking delivery or by a receipt. */
function countIfDue(context: ApplyContext, id: string): void {
  const escrow = escrowRow(context, id);
  if (escrow.settledTime === null || escrow.hire !== null) return;
  if (escrow.amount < BigInt(context.params.minHireAtomic)) return;
  const receipt = usableReceipt(context, escrow);
  if (receipt === null && !escrow.delivered) return;

  const outcome = auditedOutcome(context, escrow, escrowOutcome(context, escrow));
  if (outcome.outcome === "success" && isFeeOnly(context, escrow, outcome.price)) return;

  const counted = countHire(context, {
    ...outcome,
    id: escrow.id,
    seller: escrow.seller,
    buyer: escrow.buyer,
    hireId: receipt?.hireId ?? escrow.hireId,
    capability: receipt?.capability ?? null,
    paymentMode: modeOf(escrow),
    amount: escrow.amount,
    latencyMs: receipt === null ? null : latencyOf(context, receipt, escrow.depositedTime),
    time: escrow.settledTime,
    tx: escrow.tx,
    escrowId: escrow.id,
    receipt: receipt?.id ?? null,
    payee: escrow.payee === ZERO_ADDRESS ? escrow.seller : escrow.payee,
    paid: { block: escrow.depositedBlock, log: escrow.depositedLog, arrived: escrow.arrived },
    feePaid: publishedFee(context, escrow),
  });
  if (!counted) return;
  updateEscrow(context, id, { hire: escrow.id });
  if (receipt !== null) receiptCounted(context, receipt, escrow.id);
  awaitDisclosure(context, { id: escrow.id, seller: escrow.seller, time: escrow.settledTime });
}

/**
 * Whether a fee left too little of an escrow's money for its seller. A buyer may get the fee itself, so such a payment
 * buys no success. A bad result needs no payment.
 */
function isFeeOnly(context: ApplyContext, { toSeller }: Row<"escrow">, price: bigint): boolean {
  return price !== toSeller && price < BigInt(context.params.minHireAtomic);
}

function modeOf({ provider }: Row<"escrow">): string {
  return `platform_escrow:${provider}`;
}

/** The receipt that was joined to an escrow. Null if another payment already made that receipt's hire count. */
function usableReceipt(context: ApplyContext, escrow: Row<"escrow">): Row<"receipt"> | null {
  if (escrow.receipt === null) return null;
  const receipt = receiptRow(context, escrow.receipt);
  if (!hireKeyTaken(context, receipt)) return receipt;
  context.store.update("receipt", receipt.id, { status: "duplicate" });
  updateEscrow(context, escrow.id, { receipt: null });
  return null;
}

function updateEscrow(context: ApplyContext, id: string, change: Partial<Row<"escrow">>): void {
  context.store.update("escrow", id, change);
}

function escrowRow(context: ApplyContext, id: string): Row<"escrow"> {
  const escrow = context.store.get("escrow", id);
  if (escrow === null) throw new Error(`The escrow ${id} was never deposited.`);
  return escrow;
}
