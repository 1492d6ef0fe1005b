import type { ApplyContext } from "./applyContext.ts";
import type { Row } from "./tables.ts";

/** The result of a hire, and the evidence that decides it. */
export type Outcome = Pick<
  Row<"hire">,
  | "outcome"
  | "refunded"
  | "dispute"
  | "disputeSource"
  | "silentTimeout"
  | "refundAfterDelivery"
  | "evidence"
  | "price"
>;

const plain = {
  refunded: false,
  dispute: false,
  disputeSource: null,
  silentTimeout: false,
  refundAfterDelivery: false,
};

/**
 * A direct hire has the result that the buyer signed first, in the receipt or by telemetry. If the buyer signed none,
 * it has the result that the seller claims.
 */
export function directOutcome(receipt: Row<"receipt">, telemetry: Row<"telemetry"> | null): Outcome {
  const measured = receipt.buyerSigned ? null : (telemetry?.allPassed ?? null);
  return {
    ...plain,
    outcome: (measured ?? receipt.allPassed) ? "success" : "failure",
    evidence: receipt.buyerSigned || measured !== null ? "buyer" : "seller",
    price: receipt.amount,
  };
}

/**
 * The result of a settled escrow, which is the strongest evidence (SHP §7.3.3). If at least half of the amount was
 * released to the seller, it is a success, else a failure. A refund by the buyer or by its arbiter is a failure and a
 * dispute. A refund by the seller is a failure. A timeout without delivery is a failure. A timeout after delivery was
 * marked is neutral, because nobody can tell whether the work was good; it counts against the buyer.
 *
 * The price includes the fee if its recipient is published. Any other recipient may be a wallet of the buyer, so the
 * price is then only what reached the seller.
 */
export function escrowOutcome(context: ApplyContext, escrow: Row<"escrow">): Outcome {
  const toSeller = escrow.toSeller ?? 0n;
  const lost = escrow.feePaid - publishedFee(context, escrow);
  const settled = { ...plain, evidence: "escrow", price: toSeller - lost };
  const refundAfterDelivery = escrow.takenBack && escrow.delivered;
  if (escrow.status === "released") {
    return { ...settled, outcome: escrow.takenBack ? "failure" : "success", refundAfterDelivery };
  }
  if (escrow.status === "timed_out") {
    return {
      ...settled,
      outcome: escrow.delivered ? "neutral" : "failure",
      refunded: true,
      silentTimeout: escrow.delivered,
    };
  }
  const bySeller = escrow.refundedBy === escrow.seller;
  return {
    ...settled,
    outcome: "failure",
    refunded: true,
    dispute: !bySeller,
    disputeSource: bySeller ? null : isByAuditor(context, escrow) ? "audit" : "escrow",
    refundAfterDelivery,
  };
}

/**
 * Whether the buyer took the money of a settled escrow back: by a refund of its own, by a refund of the arbiter that it
 * chose, or by a split that gives the seller less than half. Otherwise a buyer could avoid the effects of a refund: it
 * could name its own wallet as the arbiter, or leave the seller a millionth. An arbiter of audits does not act for the
 * buyer.
 */
export function isTakenBack(context: ApplyContext, escrow: Row<"escrow">): boolean {
  if (escrow.status === "released") return (escrow.toSeller ?? 0n) * 2n < escrow.amount;
  return escrow.status === "refunded" && escrow.refundedBy !== escrow.seller && !isByAuditor(context, escrow);
}

/** Whether the arbiter that refunded an escrow is one of audits. */
function isByAuditor(
  { params }: ApplyContext,
  { refundedBy, seller, buyer, arbiter }: Row<"escrow">,
): boolean {
  return refundedBy !== seller && refundedBy !== buyer && params.auditArbiters.some((it) => it === arbiter);
}

/** The fee that a settled escrow paid, if its recipient is published. */
export function publishedFee(
  { params }: ApplyContext,
  { feeRecipient, feePaid }: Pick<Row<"escrow">, "feeRecipient" | "feePaid">,
): bigint {
  return params.feeRecipients.some((it) => it === feeRecipient) ? feePaid : 0n;
}
