import type { ApplyContext } from "../applyContext.ts";
import type { HistoryEvent } from "../events.ts";
import { addPayment, paymentKey } from "../payments.ts";
import { isOrdinaryAt, paramsAt } from "./asOf.ts";
import { inflowTold } from "./inflow.ts";

/**
 * Stores an earlier transfer that the log gives later. Without `authorized` it is an inflow of its receiver.
 * With `authorized` it is a payment that a receipt may claim. It changes no figure by itself.
 */
export function historyTold(context: ApplyContext, event: HistoryEvent): void {
  const { authorized } = event;
  authorized === undefined ? inflowTold(context, event) : paymentTold(context, { ...event, authorized });
}

function paymentTold(context: ApplyContext, event: HistoryEvent & { authorized: boolean }): void {
  const value = BigInt(event.value);
  const { minHireAtomic } = paramsAt(context, event);
  if (value < BigInt(minHireAtomic) || !isOrdinaryAt(context, event)) return;
  const { block, time, log, from, to, tx, authorized } = event;
  addPayment(context, paymentKey(tx, from, to, value), {
    block,
    time,
    log,
    from,
    to,
    value,
    authorized,
    arrived: null,
  });
}
