import { ZERO_ADDRESS } from "tallystick-protocol/address";
import { schedule } from "./agenda.ts";
import { findAgent } from "./agentRow.ts";
import type { TransferEvent } from "./events.ts";
import { addFundingTransfer, isFundingSize, presumePayment } from "./funding/fundings.ts";
import { itemsOf, listLength } from "./lists.ts";
import { addPayment, countDirectHire, mayClaim, paymentKey } from "./payments.ts";
import { receiptRow, waitingForPayment } from "./receiptRow.ts";
import type { Step } from "./step.ts";
import type { Row } from "./tables.ts";
import { changeWallet, findWallet, isHubOrEscrow } from "./wallets.ts";

/**
 * A transfer of the token is a hire payment when a receipt claims it; else it may fund its receiver. An authorized one to a
 * wallet with a live listing is presumed a hire payment until it has waited `reconcileSeconds` for its receipt.
 */
export async function transferred(step: Step, event: TransferEvent): Promise<void> {
  const value = BigInt(event.value);
  const isBusy = await countTransfer(step, event);
  const before = await findWallet(step, event.to);
  const { kind, received } = await changeWallet(step, event.to, {
    received: (before?.received ?? 0n) + value,
  });
  if (kind !== null || event.from === ZERO_ADDRESS || (await isHubOrEscrow(step, event.from))) return;

  const funds = !isBusy && isFundingSize(step, value, received);
  const presumed = event.authorized && (await hasLiveListing(step, event.to));
  let payment: Row<"payment"> | null = null;
  const key = paymentKey(event.tx, event.from, event.to, value);
  if (value >= BigInt(step.params.minHireAtomic)) {
    payment = await addPayment(step, key, {
      block: event.block,
      time: event.time,
      log: event.log,
      from: event.from,
      to: event.to,
      value,
      authorized: event.authorized,
    });
  }
  if (payment !== null) {
    const waiting = waitingForPayment(key);
    const isAwaited = (await listLength(step.store, waiting)) > 0;
    if (isAwaited && (await claimByWaitingReceipt(step, waiting, payment))) return;
    if (funds && presumed) {
      // One second more: it is decided by the first tick that is later than the whole waiting time.
      const due = event.time + step.params.reconcileSeconds + 1;
      return schedule(step, due, "payment", await presumePayment(step, event.to, legOf(event)));
    }
  }
  if (funds) await addFundingTransfer(step, event.to, legOf(event), payment !== null);
}

/**
 * Counts a transfer on both sides.
 *
 * @returns whether `hubTransfers` had left its sender, or reached its receiver, before it: then it funds nobody. Such a wallet stays
 *   what it is in all else: an agent, a buyer, a seller
 */
async function countTransfer(step: Step, { from, to }: TransferEvent): Promise<boolean> {
  const incoming = (await findWallet(step, to))?.incoming ?? 0;
  // Nobody is funded from there, and every mint would change its row.
  const outgoing = from === ZERO_ADDRESS ? 0 : ((await findWallet(step, from))?.outgoing ?? 0);
  await changeWallet(step, to, { incoming: incoming + 1 });
  if (from !== ZERO_ADDRESS) await changeWallet(step, from, { outgoing: outgoing + 1 });
  return Math.max(incoming, outgoing) >= step.params.hubTransfers;
}

async function claimByWaitingReceipt(step: Step, waiting: string, payment: Row<"payment">): Promise<boolean> {
  for await (const id of itemsOf(step.store, waiting)) {
    const receipt = await receiptRow(step, id);
    if (receipt.status !== "pending" || !(await mayClaim(step, receipt, payment))) continue;
    if (await countDirectHire(step, receipt, payment)) return true;
  }
  return false;
}

async function hasLiveListing(step: Step, address: string): Promise<boolean> {
  return ((await findAgent(step, address))?.liveListings ?? 0) > 0;
}

function legOf({ from, block, time, log }: { from: string; block: number; time: number; log: number }) {
  return { from, block, time, log };
}
