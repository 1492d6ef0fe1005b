import type { ApplyContext } from "./applyContext.ts";
import { existingRow } from "./existingRow.ts";
import type { Row } from "./tables.ts";

export function receiptRow(context: ApplyContext, id: string): Row<"receipt"> {
  return existingRow(context.store, "receipt", id);
}

/**
 * The name of the list of receipts that wait for a deposit. The deposit must have this escrowId, this buyer and this
 * seller. Anybody may sign a receipt that names an escrow of other agents. Such a receipt is in another list, because
 * its seller is its signer. So it is not found when the deposit comes.
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
