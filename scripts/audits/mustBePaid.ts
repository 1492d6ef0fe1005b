import { type ApplyContext, openContext } from "tallystick-derive/applyContext";
import { keyOfPayment, mayClaim } from "tallystick-derive/payments";
import { isBefore } from "tallystick-derive/place";
import { isOrdinaryAt, paramsAt } from "tallystick-derive/relevant/asOf";
import type { Row } from "tallystick-derive/tables";
import type { ChainTransfer } from "./auditChain.ts";
import type { DerivedLog } from "./derivedLog.ts";

/**
 * Makes a test for transfers on the chain that a receipt names: whether a complete log has a hire of this receipt and
 * this transfer. A log may lack any other transfer, and anybody can name it in a receipt. Examples are a transfer to
 * somebody who never agreed to be paid for the seller, a deposit into an escrow, and a transfer before the log begins.
 */
export function mustBePaid(
  log: Pick<DerivedLog, "store" | "params" | "firstBlock" | "lastBlock" | "receipts">,
): (receipt: Row<"receipt">, transfer: ChainTransfer) => boolean {
  const { store, params, firstBlock, lastBlock: block, receipts } = log;
  const context: ApplyContext = { ...openContext(store, { kind: "tick", block, time: 0 }), params };
  return (receipt, transfer) => {
    const place = receipts.get(receipt.id);
    if (place === undefined || transfer.block < firstBlock) return false;
    const { agent, payee, amount } = receipt;
    for (const at of [place, transfer])
      if (amount < BigInt(paramsAt(context, at).minHireAtomic)) return false;
    if (!isOrdinaryAt(context, transfer)) return false;
    // A receipt waits for its payment only if the payee agreed before.
    const consent = payee === agent ? null : store.get("payee", `${agent}/${payee}`);
    if (consent !== null && !isBefore(consent, place)) return false;
    const id = `${keyOfPayment(receipt)}/0`;
    return mayClaim(context, receipt, { ...transfer, id, time: 0, arrived: null });
  };
}
