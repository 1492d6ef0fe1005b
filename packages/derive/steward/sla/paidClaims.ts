import type { Step } from "../../step.ts";
import { breachRow } from "./breaches.ts";

/** A receipt made a hire of a transfer that had paid a claim: it pays for that alone, and the claim is open again. */
export async function takePaymentBack(step: Step, hire: string): Promise<void> {
  const payment = await step.store.get("slaPayment", hire);
  if (payment === null) return;
  const claim = await step.store.get("slaClaim", payment.claim);
  if (claim?.payment !== hire) return;
  await step.store.update("slaClaim", payment.claim, { payment: null });
  await changePaid(step, payment.claim, -1n);
}

/** So much of a claim, 1 or −1 times, is paid. */
export async function changePaid(step: Step, id: string, by: 1n | -1n): Promise<void> {
  const claim = await step.store.get("slaClaim", id);
  if (claim === null) return;
  const { paid } = await breachRow(step, claim.breach);
  await step.store.update("breach", claim.breach, { paid: paid + by * claim.owed });
}
