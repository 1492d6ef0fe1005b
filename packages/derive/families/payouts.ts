import { ZERO_ADDRESS } from "tallystick-protocol/address";
import type { ApplyContext } from "../applyContext.ts";
import { lastWhere } from "../lastWhere.ts";
import { append } from "../lists.ts";
import type { Place } from "../place.ts";
import type { Row } from "../tables.ts";

type Payment = Place & { from: string; to: string; value: bigint };

/** Notes where an escrow was settled. The next transfers of its contract are its payouts. */
export function noteSettlement(context: ApplyContext, { id, escrow }: Row<"escrow">): void {
  append(context.store, settledIn(escrow, context.at.block), `${context.at.log ?? 0} ${id}`);
}

/**
 * The buyer whose money leaves an escrow contract with a transfer. It is the buyer of the escrow that was settled
 * last before the transfer, if the transfer is one of its payouts. Null for all other transfers of the contract. A
 * withdrawn credit has no known buyer.
 */
export function payerOf(context: ApplyContext, payment: Payment): string | null {
  const id = settledLast(context, payment);
  const escrow = id === null ? null : context.store.get("escrow", id);
  return escrow !== null && isPayout(escrow, payment) ? escrow.buyer : null;
}

function isPayout(escrow: Row<"escrow">, { to, value }: Payment): boolean {
  const { buyer, seller, payee, feeRecipient, toSeller, toBuyer, feePaid } = escrow;
  const paid = toSeller ?? 0n;
  return (
    (to === (payee === ZERO_ADDRESS ? seller : payee) && value === paid - feePaid) ||
    (to === feeRecipient && value === feePaid) ||
    (to === buyer && value === toBuyer)
  );
}

/** The escrow that was settled last before a place in the same block. */
function settledLast({ store }: ApplyContext, { from, block, log }: Payment): string | null {
  const last = lastWhere(store, settledIn(from, block), (item) => Number(item.split(" ")[0]) < log);
  return last?.split(" ")[1] ?? null;
}

function settledIn(contract: string, block: number): string {
  return `settled/${contract}/${block}`;
}
