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
 * The result of a settled escrow, which is the strongest evidence (SHP §7.3.3). Released at least by half:
 * success. Refunded by the buyer or by its arbiter: failure and dispute. Refunded by the seller, who gave up:
 * failure. Timed out without delivery: failure. Timed out after delivery was marked: neutral, because nobody
 * can tell; it counts against the buyer.
 */
export function escrowOutcome(context: ApplyContext, escrow: Row<"escrow">): Outcome {
  const settled = { ...plain, evidence: "escrow", price: escrow.toSeller ?? 0n };
  if (escrow.status === "released") {
    return { ...settled, outcome: settled.price * 2n >= escrow.amount ? "success" : "failure" };
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
  const byBuyer = escrow.refundedBy === escrow.buyer;
  const byAuditor = !bySeller && !byBuyer && context.params.auditArbiters.some((it) => it === escrow.arbiter);
  return {
    ...settled,
    outcome: "failure",
    refunded: true,
    dispute: !bySeller,
    disputeSource: bySeller ? null : byAuditor ? "audit" : "escrow",
    refundAfterDelivery: byBuyer && escrow.delivered,
  };
}
