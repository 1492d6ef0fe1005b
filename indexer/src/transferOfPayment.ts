import type { DeriveEvent, TransferEvent } from "tallystick-derive/events";
import type { Row } from "tallystick-derive/tables";
import type { RowChange } from "tallystick-derive/transaction";
import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";

/**
 * The payment that a transfer became; null for a transfer that cannot pay for a hire, and for any other
 * event. Most transfers become payments.
 */
export function paymentOfTransfer(event: DeriveEvent, changes: readonly RowChange[]): Row<"payment"> | null {
  if (event.kind !== "transfer") return null;
  const made = changes.find(({ table, before }) => table === "payment" && before === null);
  return (made?.after as Row<"payment"> | undefined) ?? null;
}

/** The transfer that became a payment. Its row has everything but the token, and a node indexes one token. */
export function transferOfPayment(payment: Omit<Row<"payment">, "arrived">, token: Address): TransferEvent {
  const { id, block, time, log, from, to, value, authorized } = payment;
  return {
    block,
    time,
    log,
    kind: "transfer",
    token,
    from: from as Address,
    to: to as Address,
    value: String(value),
    tx: id.slice(0, id.indexOf("/")) as Hex,
    authorized,
  };
}
