import type { ApplyContext } from "./applyContext.ts";
import type { Row } from "./tables.ts";

export function receiptRow(context: ApplyContext, id: string): Row<"receipt"> {
  const receipt = context.store.get("receipt", id);
  if (receipt === null) throw new Error(`There is no receipt ${id}.`);
  return receipt;
}

/** The list of receipts that wait for a deposit, by escrow id. */
export function waitingFor(escrowId: string): string {
  return `waiting/${escrowId}`;
}

/** The list of receipts that wait for a payment, by its `paymentKey`. */
export function waitingForPayment(key: string): string {
  return `waiting/${key}`;
}
