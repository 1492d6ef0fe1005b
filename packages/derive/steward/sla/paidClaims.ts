import type { ApplyContext } from "../../applyContext.ts";
import { existingRow } from "../../existingRow.ts";
import { breachRow } from "./breaches.ts";

/**
 * Called when a hire was counted. If its transfer had paid a claim, the transfer now pays only for the hire, and the
 * claim is open again.
 */
export function takePaymentBack(context: ApplyContext, hire: string): void {
  const payment = context.store.get("slaPayment", hire);
  if (payment === null) return;
  if (existingRow(context.store, "slaClaim", payment.claim).payment !== hire) return;
  context.store.update("slaClaim", payment.claim, { payment: null });
  changePaid(context, payment.claim, -1n);
}

/** Adds the payment of a claim (`by` 1), or takes it back (−1). */
export function changePaid(context: ApplyContext, id: string, by: 1n | -1n): void {
  const claim = existingRow(context.store, "slaClaim", id);
  const { paid } = breachRow(context, claim.breach);
  context.store.update("breach", claim.breach, { paid: paid + by * claim.owed });
}
