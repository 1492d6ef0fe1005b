import type { ApplyContext } from "./applyContext.ts";
import { existingRow } from "./existingRow.ts";
import type { Row } from "./tables.ts";

export function receiptRow(context: ApplyContext, id: string): Row<"receipt"> {
  return existingRow(context.store, "receipt", id);
}

/**
 * The name of the list of receipts that wait for the deposit of this escrow by this buyer for this seller. Anybody may
 * sign a receipt that names an escrow of other agents. Such a receipt is in another list, which the deposit does not
 * read.
 */
export function waitingForDeposit({
  escrowId,
  seller,
  buyer,
}: {
  escrowId: string;
  seller: string;
  buyer: string;
}): string {
  return `waiting/${escrowId}/${seller}/${buyer}`;
}

/** The name of the list of receipts that wait for the payment with this `paymentKey`. */
export function waitingForPayment(key: string): string {
  return `waiting/${key}`;
}
