import type { ApplyContext } from "./applyContext.ts";
import { existingRow } from "./existingRow.ts";
import type { Row } from "./tables.ts";

export function receiptRow(context: ApplyContext, id: string): Row<"receipt"> {
  return existingRow(context.store, "receipt", id);
}

/**
 * The list of receipts that wait for the deposit of an escrow between these two. Anybody may sign receipts that name an
 * escrow of others. Those are in other lists, so a deposit does not look at them.
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

/** The list of receipts that wait for a payment, by its `paymentKey`. */
export function waitingForPayment(key: string): string {
  return `waiting/${key}`;
}
