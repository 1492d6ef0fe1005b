import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { ensureAgent } from "./agents.ts";
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
import { awaitAnswer } from "./families/coverage.ts";
import { noteSettlement } from "./families/payouts.ts";
import { hireKeyTaken } from "./hireKeys.ts";
import { amendHire, countHire } from "./hires.ts";
import { itemsOf } from "./lists.ts";
import { escrowOutcome } from "./outcome.ts";
import { receiptCounted } from "./receiptCounted.ts";
import { receiptRow, waitingFor } from "./receiptRow.ts";
import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";
import { latencyOf, saidNothingCame } from "./telemetry.ts";
import { markWallet } from "./wallets.ts";

/** Money is held. The buyer becomes an agent; nothing is said of the seller, in whose name anyone can deposit. */
export async function escrowDeposited(step: Step, event: EscrowDeposited): Promise<void> {
  await markWallet(step, event.escrow, "escrow");
  await step.store.insert("escrow", {
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
    depositedBlock: step.at.block,
    depositedTime: step.at.time,
    tx: event.tx,
    status: "held",
    delivered: false,
    resultHash: null,
    toSeller: null,
    toBuyer: null,
    feePaid: 0n,
    refundedBy: null,
    settledTime: null,
    nothingCame: false,
    unanswered: false,
    receipt: null,
    hire: null,
  });
  await ensureAgent(step, event.buyer);
  for await (const id of itemsOf(step.store, waitingFor(event.escrowId))) {
    const receipt = await receiptRow(step, id);
    if (receipt.status === "pending") await attachReceipt(step, receipt);
  }
}

export async function escrowDelivered(step: Step, event: EscrowDelivered): Promise<void> {
  await updateEscrow(step, event.escrowId, { delivered: true, resultHash: event.resultHash });
}

export async function escrowReleased(step: Step, event: EscrowReleased): Promise<void> {
  await settle(step, event.escrowId, {
    status: "released",
    toSeller: BigInt(event.toSeller),
    toBuyer: BigInt(event.toBuyer),
    feePaid: BigInt(event.fee),
  });
}

export async function escrowRefunded(step: Step, event: EscrowRefunded): Promise<void> {
  const { id, amount, receipt } = await escrowRow(step, event.escrowId);
  await settle(step, id, {
    status: "refunded",
    toSeller: 0n,
    toBuyer: amount,
    refundedBy: event.by,
    nothingCame: receipt !== null && (await saidNothingCame(step, receipt)),
  });
  await refundContested(step, await escrowRow(step, id));
}

export async function escrowTimedOut(step: Step, event: EscrowTimedOut): Promise<void> {
  const { amount } = await escrowRow(step, event.escrowId);
  await settle(step, event.escrowId, { status: "timed_out", toSeller: 0n, toBuyer: amount });
}

async function settle(step: Step, id: string, change: Partial<Row<"escrow">>): Promise<void> {
  await escrowRow(step, id);
  await updateEscrow(step, id, { ...change, settledTime: step.at.time });
  const settled = await escrowRow(step, id);
  await noteSettlement(step, settled);
  await countIfDue(step, id);
  await awaitAnswer(step, settled);
}

/**
 * Joins a receipt to the escrow it names, if both sides are the same. A receipt is the seller's own act, by which a settled
 * escrow counts for it; one that comes after that tells the capability and latency.
 */
export async function attachReceipt(step: Step, receipt: Row<"receipt">): Promise<void> {
  const escrow = receipt.escrowId === null ? null : await step.store.get("escrow", receipt.escrowId);
  if (escrow === null) return;
  const sameSides = escrow.seller === receipt.agent && escrow.buyer === receipt.buyer;
  if (!sameSides) {
    await step.store.update("receipt", receipt.id, { status: "unmatched" });
    return;
  }
  if (escrow.receipt !== null || (await hireKeyTaken(step, receipt))) {
    await step.store.update("receipt", receipt.id, { status: "duplicate" });
    return;
  }
  await updateEscrow(step, escrow.id, { receipt: receipt.id });
  await depositReceipted(
    step,
    {
      ...escrow,
      paymentMode: modeOf(escrow),
      paidAt: escrow.depositedTime,
      isContested: isContested(escrow),
    },
    receipt,
  );
  if (escrow.hire === null) {
    await countIfDue(step, escrow.id);
    return;
  }
  await amendHire(step, escrow.hire, {
    receipt: receipt.id,
    hireId: receipt.hireId,
    capability: receipt.capability,
    latencyMs: await latencyOf(step, receipt),
  });
  await receiptCounted(step, receipt, escrow.hire);
}

/** Counts an escrow once it is settled and its seller has acted: by marking delivery, or by a receipt. */
async function countIfDue(step: Step, id: string): Promise<void> {
  const escrow = await escrowRow(step, id);
  if (escrow.settledTime === null || escrow.hire !== null) return;
  if (escrow.amount < BigInt(step.params.minHireAtomic)) return;
  const receipt = await usableReceipt(step, escrow);
  if (receipt === null && !escrow.delivered) return;

  const counted = await countHire(step, {
    ...(await auditedOutcome(step, escrow, escrowOutcome(step, escrow))),
    id: escrow.id,
    seller: escrow.seller,
    buyer: escrow.buyer,
    hireId: receipt?.hireId ?? escrow.hireId,
    capability: receipt?.capability ?? null,
    paymentMode: modeOf(escrow),
    amount: escrow.amount,
    latencyMs: receipt === null ? null : await latencyOf(step, receipt),
    time: escrow.settledTime,
    tx: escrow.tx,
    escrowId: escrow.id,
    receipt: receipt?.id ?? null,
    payee: escrow.payee === ZERO_ADDRESS ? escrow.seller : escrow.payee,
    feePaid: step.params.feeRecipients.some((it) => it === escrow.feeRecipient) ? escrow.feePaid : 0n,
  });
  if (!counted) return;
  await updateEscrow(step, id, { hire: escrow.id });
  if (receipt !== null) await receiptCounted(step, receipt, escrow.id);
  await awaitDisclosure(step, { id: escrow.id, seller: escrow.seller, time: escrow.settledTime });
}

function modeOf({ provider }: Row<"escrow">): string {
  return `platform_escrow:${provider}`;
}

/** The attached receipt, unless its hire was counted by another payment since. */
async function usableReceipt(step: Step, escrow: Row<"escrow">): Promise<Row<"receipt"> | null> {
  if (escrow.receipt === null) return null;
  const receipt = await receiptRow(step, escrow.receipt);
  if (!(await hireKeyTaken(step, receipt))) return receipt;
  await step.store.update("receipt", receipt.id, { status: "duplicate" });
  await updateEscrow(step, escrow.id, { receipt: null });
  return null;
}

async function updateEscrow(step: Step, id: string, change: Partial<Row<"escrow">>): Promise<void> {
  await step.store.update("escrow", id, change);
}

async function escrowRow(step: Step, id: string): Promise<Row<"escrow">> {
  const escrow = await step.store.get("escrow", id);
  if (escrow === null) throw new Error(`The escrow ${id} was never deposited.`);
  return escrow;
}
