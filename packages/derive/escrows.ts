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
import { awaitAnswer } from "./families/coverage.ts";
import { noteSettlement } from "./families/payouts.ts";
import { hireKeyTaken } from "./hireKeys.ts";
import { amendHire, countHire } from "./hires.ts";
import { itemsOf } from "./lists.ts";
import { escrowOutcome } from "./outcome.ts";
import { receiptCounted } from "./receiptCounted.ts";
import { receiptRow, waitingFor } from "./receiptRow.ts";
import type { Row } from "./tables.ts";
import { latencyOf, saidNothingCame } from "./telemetry.ts";
import { markWallet } from "./wallets.ts";

/** Money is held. The buyer becomes an agent. Nothing is said of the seller, since anyone can deposit in its name. */
export async function escrowDeposited(context: ApplyContext, event: EscrowDeposited): Promise<void> {
  await markWallet(context, event.escrow, "escrow");
  await context.store.insert("escrow", {
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
    depositedTime: context.at.time,
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
  await ensureAgent(context, event.buyer);
  for await (const id of itemsOf(context.store, waitingFor(event.escrowId))) {
    const receipt = await receiptRow(context, id);
    if (receipt.status === "pending") await attachReceipt(context, receipt);
  }
}

export async function escrowDelivered(context: ApplyContext, event: EscrowDelivered): Promise<void> {
  await updateEscrow(context, event.escrowId, { delivered: true, resultHash: event.resultHash });
}

export async function escrowReleased(context: ApplyContext, event: EscrowReleased): Promise<void> {
  await settle(context, event.escrowId, {
    status: "released",
    toSeller: BigInt(event.toSeller),
    toBuyer: BigInt(event.toBuyer),
    feePaid: BigInt(event.fee),
  });
}

export async function escrowRefunded(context: ApplyContext, event: EscrowRefunded): Promise<void> {
  const { id, amount, receipt } = await escrowRow(context, event.escrowId);
  await settle(context, id, {
    status: "refunded",
    toSeller: 0n,
    toBuyer: amount,
    refundedBy: event.by,
    nothingCame: receipt !== null && (await saidNothingCame(context, receipt)),
  });
  await refundContested(context, await escrowRow(context, id));
}

export async function escrowTimedOut(context: ApplyContext, event: EscrowTimedOut): Promise<void> {
  const { amount } = await escrowRow(context, event.escrowId);
  await settle(context, event.escrowId, { status: "timed_out", toSeller: 0n, toBuyer: amount });
}

async function settle(context: ApplyContext, id: string, change: Partial<Row<"escrow">>): Promise<void> {
  await escrowRow(context, id);
  await updateEscrow(context, id, { ...change, settledTime: context.at.time });
  const settled = await escrowRow(context, id);
  await noteSettlement(context, settled);
  await countIfDue(context, id);
  await awaitAnswer(context, settled);
}

/**
 * Joins a receipt to the escrow it names, if both sides are the same. A receipt is the seller's own act, by which a settled
 * escrow counts for it. A receipt after that adds the capability and latency.
 */
export async function attachReceipt(context: ApplyContext, receipt: Row<"receipt">): Promise<void> {
  const escrow = receipt.escrowId === null ? null : await context.store.get("escrow", receipt.escrowId);
  if (escrow === null) return;
  const sameSides = escrow.seller === receipt.agent && escrow.buyer === receipt.buyer;
  if (!sameSides) {
    await context.store.update("receipt", receipt.id, { status: "unmatched" });
    return;
  }
  if (escrow.receipt !== null || (await hireKeyTaken(context, receipt))) {
    await context.store.update("receipt", receipt.id, { status: "duplicate" });
    return;
  }
  await updateEscrow(context, escrow.id, { receipt: receipt.id });
  await depositReceipted(
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
    await countIfDue(context, escrow.id);
    return;
  }
  await amendHire(context, escrow.hire, {
    receipt: receipt.id,
    hireId: receipt.hireId,
    capability: receipt.capability,
    latencyMs: await latencyOf(context, receipt),
  });
  await receiptCounted(context, receipt, escrow.hire);
}

/** Counts an escrow once it is settled and its seller has acted, by marking delivery or by a receipt. */
async function countIfDue(context: ApplyContext, id: string): Promise<void> {
  const escrow = await escrowRow(context, id);
  if (escrow.settledTime === null || escrow.hire !== null) return;
  if (escrow.amount < BigInt(context.params.minHireAtomic)) return;
  const receipt = await usableReceipt(context, escrow);
  if (receipt === null && !escrow.delivered) return;

  const counted = await countHire(context, {
    ...(await auditedOutcome(context, escrow, escrowOutcome(context, escrow))),
    id: escrow.id,
    seller: escrow.seller,
    buyer: escrow.buyer,
    hireId: receipt?.hireId ?? escrow.hireId,
    capability: receipt?.capability ?? null,
    paymentMode: modeOf(escrow),
    amount: escrow.amount,
    latencyMs: receipt === null ? null : await latencyOf(context, receipt),
    time: escrow.settledTime,
    tx: escrow.tx,
    escrowId: escrow.id,
    receipt: receipt?.id ?? null,
    payee: escrow.payee === ZERO_ADDRESS ? escrow.seller : escrow.payee,
    feePaid: context.params.feeRecipients.some((it) => it === escrow.feeRecipient) ? escrow.feePaid : 0n,
  });
  if (!counted) return;
  await updateEscrow(context, id, { hire: escrow.id });
  if (receipt !== null) await receiptCounted(context, receipt, escrow.id);
  await awaitDisclosure(context, { id: escrow.id, seller: escrow.seller, time: escrow.settledTime });
}

function modeOf({ provider }: Row<"escrow">): string {
  return `platform_escrow:${provider}`;
}

/** The attached receipt, unless another payment made its hire count since. */
async function usableReceipt(context: ApplyContext, escrow: Row<"escrow">): Promise<Row<"receipt"> | null> {
  if (escrow.receipt === null) return null;
  const receipt = await receiptRow(context, escrow.receipt);
  if (!(await hireKeyTaken(context, receipt))) return receipt;
  await context.store.update("receipt", receipt.id, { status: "duplicate" });
  await updateEscrow(context, escrow.id, { receipt: null });
  return null;
}

async function updateEscrow(
  context: ApplyContext,
  id: string,
  change: Partial<Row<"escrow">>,
): Promise<void> {
  await context.store.update("escrow", id, change);
}

async function escrowRow(context: ApplyContext, id: string): Promise<Row<"escrow">> {
  const escrow = await context.store.get("escrow", id);
  if (escrow === null) throw new Error(`The escrow ${id} was never deposited.`);
  return escrow;
}
