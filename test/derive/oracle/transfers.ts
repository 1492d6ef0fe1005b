import type { DeriveEvent } from "tallystick-derive/events";
import type { Facts, Receipt, Transfer } from "./facts.ts";
import { becomePlain, isLarge } from "./fundings.ts";
import { countDirect } from "./hires.ts";

const ZERO = `0x${"0".repeat(40)}`;

export function readTransfer(facts: Facts, event: Extract<DeriveEvent, { kind: "transfer" }>): void {
  const known = (address: string) => facts.hubs.has(address) || facts.escrowContracts.has(address);
  const count = (is: (it: Transfer) => boolean) => facts.transfers.filter(is).length;
  const isBusy =
    Math.max(
      count((it) => it.to === event.to),
      count((it) => it.from === event.from),
    ) >= facts.params.hubTransfers;
  const before = facts.transfers.filter((it) => it.to === event.to).reduce((sum, it) => sum + it.value, 0n);
  const value = BigInt(event.value);
  const isWorthAHire = value >= BigInt(facts.params.minHireAtomic);
  const alike = facts.transfers.filter(
    (it) =>
      it.mayBePayment &&
      it.ordinary &&
      it.tx === event.tx &&
      it.from === event.from &&
      it.to === event.to &&
      it.value === value,
  );
  const transfer: Transfer = {
    index: facts.now,
    block: event.block,
    log: event.log,
    time: event.time,
    from: event.from,
    to: event.to,
    value,
    tx: event.tx,
    authorized: event.authorized,
    ordinary: event.from !== ZERO && !known(event.from) && !known(event.to),
    receivedSoFar: before + value,
    large: !isBusy && isLarge(facts, value, before + value),
    presumedUntil:
      event.authorized && isWorthAHire && facts.listings.some((it) => it.agent === event.to && it.live)
        ? event.time + facts.params.reconcileSeconds
        : null,
    mayBePayment: isWorthAHire && alike.length < 100,
    claimed: false,
    decided: false,
    plain: null,
  };
  facts.transfers.push(transfer);
  if (!transfer.ordinary) return;
  for (const receipt of facts.receipts) {
    if (receipt.status === "pending" && pays(facts, transfer, receipt))
      countDirect(facts, receipt, transfer, event);
  }
  const waits = transfer.presumedUntil !== null;
  if (!transfer.claimed && !waits) becomePlain(facts, transfer);
}

/**
 * Makes presumed payments plain that no receipt claimed in time. They come in the order of their due time in steps of
 * 300 seconds, then in the order of arrival.
 */
export function endPresumptions(facts: Facts): void {
  const due = facts.transfers.filter(
    ({ ordinary, presumedUntil, claimed, plain }) =>
      ordinary && presumedUntil !== null && !claimed && plain === null && facts.asOf > presumedUntil,
  );
  const step = ({ presumedUntil }: Transfer) => Math.floor(((presumedUntil ?? 0) + 1) / 300);
  for (const it of due.sort((a, b) => step(a) - step(b))) {
    it.decided = true;
    becomePlain(facts, it);
  }
}

export function pays(facts: Facts, it: Transfer, receipt: Receipt): boolean {
  if (it.claimed || !it.ordinary || !it.mayBePayment) return false;
  if (receipt.escrowId !== null || it.tx !== receipt.tx || it.from !== receipt.buyer) return false;
  if (it.to !== receipt.payee || it.value !== receipt.amount) return false;
  if (receipt.logIndex !== null && receipt.logIndex !== it.log) return false;
  if (!it.authorized && !receipt.buyerSigned) return false;
  return receipt.payee === receipt.agent || agreesTo(facts, receipt, it);
}

/** Whether the payee agreed to be paid for the agent before a place, and the buyer says so if it is paid for others too. */
export function agreesTo(
  facts: Facts,
  { agent, payee, buyerSigned }: Receipt,
  { block, log }: { block: number; log: number },
): boolean {
  const agreed = [...facts.consents]
    .filter(([, it]) => it.block < block || (it.block === block && it.log < log))
    .map(([pair]) => pair.split("/"))
    .filter(([, to]) => to === payee);
  if (!agreed.some(([by]) => by === agent)) return false;
  const sells = new Set(agreed.map(([by]) => by));
  if (facts.listings.some((it) => it.agent === payee)) sells.add(payee);
  return buyerSigned || sells.size === 1;
}
