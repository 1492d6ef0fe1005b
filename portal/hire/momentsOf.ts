import { formatAmount, plainText } from "../design/format.ts";
import type { Hire } from "./hireQuery.ts";

/** The most ratings that are shown. Each side gives one. */
const MAX_RATINGS = 10;

/** Something that happened to a hire. */
export type Moment = { time: number; what: string; detail: string };

const SETTLED: { [status: string]: string } = {
  RELEASED: "The buyer released the money",
  REFUNDED: "The money went back to the buyer",
  TIMED_OUT: "The deadline passed, and the money went back to the buyer",
};

/** Everything that happened to a hire, in order of time. */
export function momentsOf(hire: Hire): Moment[] {
  const { payment, escrow, receipt, ratings, audit } = hire;
  const moments: Moment[] = [];
  if (payment !== null) {
    moments.push({
      time: payment.time,
      what: `The buyer paid ${formatAmount(hire.amountUsdc)} USDC`,
      detail: payment.authorized
        ? "By its signature (EIP-3009)."
        : "By a transfer. The buyer signed the receipt.",
    });
  }
  if (escrow !== null) {
    moments.push({
      time: escrow.depositedTime,
      what: `The buyer put ${formatAmount(hire.amountUsdc)} USDC into the escrow`,
      detail: escrow.settledTime === null ? deliveryOf(escrow) : "",
    });
    if (escrow.settledTime !== null) {
      moments.push({
        time: escrow.settledTime,
        what: SETTLED[escrow.status] ?? "The escrow was settled",
        detail: `${formatAmount(escrow.toSellerUsdc ?? "0.00")} USDC to the seller, ${formatAmount(escrow.toBuyerUsdc ?? "0.00")} to the buyer. ${deliveryOf(escrow)}`,
      });
    }
  }
  if (receipt !== null) {
    moments.push({
      time: receipt.time,
      what: "The seller's receipt was anchored",
      detail: `It says that the checks ${receipt.allPassed ? "passed" : "failed"}; the buyer ${receipt.buyerSigned ? "signed it too" : "did not sign it"}.`,
    });
  }
  for (const { stars, side, time } of ratings.slice(0, MAX_RATINGS))
    moments.push({ time, what: `The ${plainText(side, 20)} gave ${stars} of 5 stars`, detail: "" });
  if (audit !== null && audit.closedTime !== null) {
    moments.push({
      time: audit.closedTime,
      what: "An audit ended",
      detail: `Its result: ${plainText(audit.status.toLowerCase().replaceAll("_", " "), 60)}.`,
    });
  }
  return moments.sort((a, b) => a.time - b.time);
}

/** Says whether the seller marked its delivery. The page's query does not ask when that was. */
function deliveryOf({ delivered, settledTime }: NonNullable<Hire["escrow"]>): string {
  if (settledTime === null)
    return delivered
      ? "The seller has marked its delivery since."
      : "The seller has not marked its delivery yet.";
  return delivered ? "The seller had marked its delivery." : "The seller had marked no delivery.";
}
