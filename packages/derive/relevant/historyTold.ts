import type { HistoryEvent } from "../events.ts";
import { addPayment, paymentKey } from "../payments.ts";
import type { Step } from "../step.ts";
import { isOrdinaryAt, paramsAt } from "./asOf.ts";
import { inflowTold } from "./inflow.ts";

/** A transfer of the past: what reached its receiver, or, with `authorized`, what a receipt may claim. Nothing is concluded from it by itself. */
export function historyTold(step: Step, event: HistoryEvent): Promise<void> {
  const { authorized } = event;
  return authorized === undefined ? inflowTold(step, event) : paymentTold(step, { ...event, authorized });
}

async function paymentTold(step: Step, event: HistoryEvent & { authorized: boolean }): Promise<void> {
  const value = BigInt(event.value);
  const { minHireAtomic } = await paramsAt(step, event);
  if (value < BigInt(minHireAtomic) || !(await isOrdinaryAt(step, event))) return;
  const { block, time, log, from, to, tx, authorized } = event;
  await addPayment(step, paymentKey(tx, from, to, value), { block, time, log, from, to, value, authorized });
}
