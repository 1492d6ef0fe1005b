import type { SlaPayment } from "tallystick-protocol/records/slaPayment";
import { directHireId } from "../../hireId.ts";
import { askPayments, paymentKey } from "../../payments.ts";
import { isRelevant } from "../../relevant/isRelevant.ts";
import type { Step } from "../../step.ts";
import type { Row } from "../../tables.ts";
import { noteStep } from "./breaches.ts";
import { changePaid } from "./paidClaims.ts";

/** Why a payment of what a breach owes does not count, or null. */
export async function paymentProblem(
  step: Step,
  breach: Row<"breach">,
  body: SlaPayment,
): Promise<string | null> {
  const claim = await step.store.get("slaClaim", `${breach.id}/${body.buyer}`);
  if (claim === null) return `the breach owes ${body.buyer} nothing`;
  if (claim.payment !== null) return "what it owes this buyer was paid";
  if (breach.status !== "confirmed") return "the breach was overturned";
  const id = directHireId(body.tx_hash, body.log_index);
  if ((await step.store.get("slaPayment", id)) !== null) return "this transfer paid something else before";
  if ((await step.store.get("hire", id)) !== null) return "this transfer paid for a hire";
  const transfer = { tx: body.tx_hash, from: breach.agent, to: body.buyer, value: claim.owed };
  if (isRelevant(step)) await askPayments(step, transfer, { block: step.at.block, log: step.at.log ?? 0 });
  const key = paymentKey(transfer.tx, transfer.from, transfer.to, transfer.value);
  for (let n = 0; ; n++) {
    const payment = await step.store.get("payment", `${key}/${n}`);
    if (payment === null) return `no such transfer of ${claim.owed} from the agent to the buyer is known`;
    if (payment.log === body.log_index && payment.from === breach.agent && payment.to === body.buyer)
      return null;
  }
}

export async function paymentSettled(
  step: Step,
  breach: string,
  body: SlaPayment,
  record: string,
): Promise<void> {
  const claim = `${breach}/${body.buyer}`;
  const id = directHireId(body.tx_hash, body.log_index);
  await step.store.insert("slaPayment", { id, claim });
  await step.store.update("slaClaim", claim, { payment: id });
  await changePaid(step, claim, 1n);
  await noteStep(step, breach, "paid", record);
}
