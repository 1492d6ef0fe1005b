import { ponder } from "ponder:registry";
import { config } from "../../environment.ts";
import { logEvent } from "../eventLog.ts";
import { clamped, lower, placeOf } from "./place.ts";

ponder.on("HireEscrow:Deposited", async ({ event, context }) => {
  const { escrowId, hireId, buyer, seller, payee, amount, fee, feeRecipient, deadline, arbiter } = event.args;
  const escrow = lower(event.log.address);
  await logEvent(
    context.db,
    {
      ...placeOf(event),
      kind: "escrow.deposited",
      provider: config.params.escrows[escrow] ?? "",
      escrow,
      escrowId,
      hireId,
      buyer: lower(buyer),
      seller: lower(seller),
      payee: lower(payee),
      amount: String(amount),
      fee: String(fee),
      feeRecipient: lower(feeRecipient),
      deadline: clamped(deadline),
      arbiter: lower(arbiter),
      tx: event.transaction.hash,
    },
    event.block,
  );
});

ponder.on("HireEscrow:Delivered", async ({ event, context }) => {
  const { escrowId, resultHash } = event.args;
  await logEvent(
    context.db,
    { ...placeOf(event), kind: "escrow.delivered", escrowId, resultHash },
    event.block,
  );
});

ponder.on("HireEscrow:Released", async ({ event, context }) => {
  const { escrowId, toSeller, toBuyer, fee } = event.args;
  await logEvent(
    context.db,
    {
      ...placeOf(event),
      kind: "escrow.released",
      escrowId,
      toSeller: String(toSeller),
      toBuyer: String(toBuyer),
      fee: String(fee),
    },
    event.block,
  );
});

ponder.on("HireEscrow:Refunded", async ({ event, context }) => {
  const { escrowId, by } = event.args;
  await logEvent(
    context.db,
    { ...placeOf(event), kind: "escrow.refunded", escrowId, by: lower(by) },
    event.block,
  );
});

ponder.on("HireEscrow:TimedOut", async ({ event, context }) => {
  const { escrowId, delivered } = event.args;
  await logEvent(
    context.db,
    { ...placeOf(event), kind: "escrow.timedOut", escrowId, delivered },
    event.block,
  );
});
