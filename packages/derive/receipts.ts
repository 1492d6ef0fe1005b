import { ZERO_HASH } from "tallystick-protocol/hex";
import type { Receipt } from "tallystick-protocol/records/receipt";
import { findAgent, updateAgent } from "./agentRow.ts";
import { freeHiresOf } from "./agents.ts";
import type { ApplyContext } from "./applyContext.ts";
import { auditRow } from "./audits/auditRow.ts";
import { noteDisclosure } from "./audits/disclosures.ts";
import { failEquivocal } from "./audits/outcomes.ts";
import { attachReceipt } from "./escrows.ts";
import { append, listLength } from "./lists.ts";
import { countDirectHire, findPayment, keyOfPayment, MAX_ALIKE, mayClaimLater } from "./payments.ts";
import { receiptRow, waitingForDeposit, waitingForPayment } from "./receiptRow.ts";
import { watch } from "./relevant/inflow.ts";
import { schedule } from "./schedule.ts";
import type { Row } from "./tables.ts";

/** What a valid receipt says, as the derivation keeps it. */
export type ReceiptFacts = { hash: string; body: Receipt; completedAt: number; buyerSigned: boolean };

/** Applies a seller's receipt. It counts once both receipt and payment are there, in any order (SHP §9.2, §11). */
export function receiptSettled(context: ApplyContext, facts: ReceiptFacts): void {
  const receipt = rowOf(context, facts);
  context.store.insert("receipt", receipt);
  for (const hire of noteDisclosure(context, receipt)) failEquivocal(context, auditRow(context, hire));
  if (receipt.escrowId === null && receipt.amount < BigInt(context.params.minHireAtomic)) {
    countFreeHire(context, receipt);
  } else if (receipt.escrowId !== null) {
    attachReceipt(context, receipt);
    if (context.store.get("escrow", receipt.escrowId) === null)
      awaitDeposit(context, receipt, receipt.escrowId);
  } else {
    const payment = findPayment(context, receipt);
    // A receipt with a payment is settled, even if it does not count.
    if (payment === null) awaitPayment(context, receipt);
    else countDirectHire(context, receipt, payment);
  }
}

/**
 * Only receipts that may claim a payment can wait for it. So neither a stranger nor another agent with the same payee
 * can take the places on the list.
 */
function awaitPayment(context: ApplyContext, receipt: Row<"receipt">): void {
  const waiting = waitingForPayment(keyOfPayment(receipt));
  const mayWait = mayClaimLater(context, receipt) && listLength(context.store, waiting) < MAX_ALIKE;
  if (mayWait) watch(context, receipt.payee);
  waitIfPending(context, receipt, mayWait ? waiting : null);
}

/**
 * All receipts that wait for one deposit have the same seller, and a seller needs only a few. So their number is
 * limited.
 */
function awaitDeposit(context: ApplyContext, receipt: Row<"receipt">, escrowId: string): void {
  const waiting = waitingForDeposit({ escrowId, seller: receipt.agent, buyer: receipt.buyer });
  const mayWait = listLength(context.store, waiting) < MAX_ALIKE;
  waitIfPending(context, receipt, mayWait ? waiting : null);
}

/**
 * Called when the waiting time of a receipt is over. A receipt that was joined to an escrow goes on waiting for the
 * settlement.
 */
export function receiptWaited(context: ApplyContext, id: string): void {
  const receipt = receiptRow(context, id);
  if (receipt.status !== "pending") return;
  const escrow = receipt.escrowId === null ? null : context.store.get("escrow", receipt.escrowId);
  if (escrow?.receipt === id) return;
  context.store.update("receipt", id, { status: "unmatched" });
}

/** Puts a receipt that is not settled yet on a list. If there is no list for it, it becomes unmatched. */
function waitIfPending(context: ApplyContext, receipt: Row<"receipt">, list: string | null): void {
  if (receiptRow(context, receipt.id).status !== "pending") return;
  if (list === null) {
    context.store.update("receipt", receipt.id, { status: "unmatched" });
    return;
  }
  append(context.store, list, receipt.id);
  schedule(context, context.at.time + context.params.reconcileSeconds + 1, "receipt", receipt.id);
}

/** Free hires are shown, one for each buyer and seller, if the buyer signed. They count nowhere else. */
function countFreeHire(context: ApplyContext, receipt: Row<"receipt">): void {
  const id = `${receipt.buyer}/${receipt.agent}`;
  const known = context.store.get("freeHire", id) !== null;
  const status = !receipt.buyerSigned ? "unmatched" : known ? "duplicate" : "free";
  context.store.update("receipt", receipt.id, { status });
  if (status !== "free") return;
  context.store.insert("freeHire", { id, receipt: receipt.id });
  const list = freeHiresOf(receipt.agent);
  append(context.store, list, receipt.id);
  if (findAgent(context, receipt.agent) === null) return;
  updateAgent(context, receipt.agent, { freeHires: listLength(context.store, list) });
}

function rowOf(
  context: ApplyContext,
  { hash, body, completedAt, buyerSigned }: ReceiptFacts,
): Row<"receipt"> {
  return {
    id: hash,
    agent: body.agent_id,
    buyer: body.buyer,
    capability: body.capability,
    hireId: body.hire_id,
    txHash: body.tx_hash ?? ZERO_HASH,
    logIndex: body.log_index ?? null,
    amount: BigInt(body.amount_usdc_atomic),
    payee: body.payee ?? body.agent_id,
    escrowId: body.escrow_id ?? null,
    completedAt,
    allPassed: body.verification.all_passed,
    latencyMs: body.latency_ms ?? null,
    buyerSigned,
    paramsHash: body.params_hash ?? null,
    resultHash: body.result_hash ?? null,
    time: context.at.time,
    status: "pending",
    hire: null,
  };
}
