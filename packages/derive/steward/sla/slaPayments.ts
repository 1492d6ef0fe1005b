import type { SlaPayment } from "tallystick-protocol/records/slaPayment";
import type { ApplyContext } from "../../applyContext.ts";
import { directHireId } from "../../hireId.ts";
import { askPayments, paymentKey } from "../../payments.ts";
import { isRelevant } from "../../relevant/isRelevant.ts";
import type { Row } from "../../tables.ts";
import { noteStep } from "./breaches.ts";
import { changePaid } from "./paidClaims.ts";

/** The reason why a payment for a breach does not count, or null. */
export function paymentProblem(
  context: ApplyContext,
  breach: Row<"breach">,
  body: SlaPayment,
): string | null {
  const claim = context.store.get("slaClaim", `${breach.id}/${body.buyer}`);
  if (claim === null) return `the breach owes ${body.buyer} nothing`;
  if (claim.payment !== null) return "what it owes this buyer was paid";
  if (breach.status !== "confirmed") return "the breach was overturned";
  const id = directHireId(body.tx_hash, body.log_index);
  if (context.store.get("slaPayment", id) !== null) return "this transfer paid something else before";
  if (context.store.get("hire", id) !== null) return "this transfer paid for a hire";
  const transfer = { tx: body.tx_hash, from: breach.agent, to: body.buyer, value: claim.owed };
  if (isRelevant(context))
    askPayments(context, transfer, { block: context.at.block, log: context.at.log ?? 0 });
  const key = paymentKey(transfer.tx, transfer.from, transfer.to, transfer.value);
  for (let n = 0; ; n++) {
    const payment = context.store.get("payment", `${key}/${n}`);
    if (payment === null) return `no such transfer of ${claim.owed} from the agent to the buyer is known`;
    if (payment.log !== body.log_index || payment.from !== breach.agent || payment.to !== body.buyer)
      continue;
    // A transfer before the confirmation of the breach cannot pay for it, because nothing was owed yet.
    return payment.time < (breach.confirmedTime ?? 0) ? "this transfer is older than the debt" : null;
  }
}

export function paymentSettled(
  context: ApplyContext,
  breach: string,
  body: SlaPayment,
  record: string,
): void {
  const claim = `${breach}/${body.buyer}`;
  const id = directHireId(body.tx_hash, body.log_index);
  context.store.insert("slaPayment", { id, claim });
  context.store.update("slaClaim", claim, { payment: id });
  changePaid(context, claim, 1n);
  noteStep(context, breach, "paid", record);
}
