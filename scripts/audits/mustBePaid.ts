import { openContext } from "tallystick-derive/applyContext";
import { keyOfPayment, mayClaim } from "tallystick-derive/payments";
import { isBefore, type Place } from "tallystick-derive/place";
import type { Row } from "tallystick-derive/tables";
import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { ChainTransfer } from "./auditChain.ts";
import type { DerivedLog } from "./derivedLog.ts";

/**
 * Makes a test for a transfer on the chain that a receipt names. The test says whether a complete log must have a hire
 * of this receipt and this transfer. A log may lack other transfers, and anybody can name them in a receipt. Examples
 * are a transfer to somebody who never agreed to be paid for the seller, a deposit into an escrow, and a transfer
 * before the log begins.
 */
export function mustBePaid(
  log: Pick<DerivedLog, "store" | "history" | "firstBlock" | "lastBlock" | "receipts">,
): (receipt: Row<"receipt">, transfer: ChainTransfer) => boolean {
  const { store, history, firstBlock, lastBlock: block, receipts } = log;
  const context = openContext(store, { kind: "tick", block, time: 0 });
  const paramsAt = (place: Place) =>
    (history.findLast(({ from }) => isBefore(from, place)) ?? history[0])?.params;

  /** Whether a wallet was a hub, a pool or an escrow, so that it neither pays nor is paid for a hire. */
  function isRoot(wallet: string, place: Place): boolean {
    if (store.get("wallet", wallet)?.kind === "escrow") return true;
    const { hubs = [], audit } = paramsAt(place) ?? {};
    const pools = Object.values(audit?.operators ?? {}).map(({ pool }) => pool);
    return [...hubs, ...pools].some((it) => it === wallet);
  }

  return (receipt, transfer) => {
    const place = receipts.get(receipt.id);
    if (place === undefined || transfer.block < firstBlock) return false;
    const { agent, payee, amount } = receipt;
    for (const at of [place, transfer]) if (amount < BigInt(paramsAt(at)?.minHireAtomic ?? 0)) return false;
    const { from, to } = transfer;
    if (from === ZERO_ADDRESS || isRoot(from, transfer) || isRoot(to, transfer)) return false;
    // A receipt waits for its payment only if the payee agreed before.
    const consent = payee === agent ? null : store.get("payee", `${agent}/${payee}`);
    if (consent !== null && !isBefore(consent, place)) return false;
    const id = `${keyOfPayment(receipt)}/0`;
    return mayClaim(context, receipt, { ...transfer, id, time: 0, arrived: null });
  };
}
