import type { ApplyContext } from "../applyContext.ts";
import type { HistoryEvent } from "../events.ts";
import { addPayment, paymentKey } from "../payments.ts";
import { isOrdinaryAt, paramsAt } from "./asOf.ts";
import { inflowTold } from "./inflow.ts";

/**
 * A transfer of the past: what reached its receiver, or, with `authorized`, what a receipt may claim. By itself it has no
 * effect.
 */
export function historyTold(context: ApplyContext, event: HistoryEvent): Promise<void> {
  const { authorized } = event;
  return authorized === undefined
    ? inflowTold(context, event)
    : paymentTold(context, { ...event, authorized });
}

async function paymentTold(
  context: ApplyContext,
  event: HistoryEvent & { authorized: boolean },
): Promise<void> {
  const value = BigInt(event.value);
  const { minHireAtomic } = await paramsAt(context, event);
  if (value < BigInt(minHireAtomic) || !(await isOrdinaryAt(context, event))) return;
  const { block, time, log, from, to, tx, authorized } = event;
  await addPayment(context, paymentKey(tx, from, to, value), {
    block,
    time,
    log,
    from,
    to,
    value,
    authorized,
  });
}
