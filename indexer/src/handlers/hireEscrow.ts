import { type Context, ponder } from "ponder:registry";
import type { DeriveEvent } from "tallystick-derive/events";
import type { Hex } from "tallystick-protocol/hex";
import { config } from "../../environment.ts";
import { escrowStep } from "../../ponder.schema.ts";
import { type HandlersBlock, logEvent } from "../eventLog.ts";
import { clamped, lower, placeOf } from "./place.ts";

type StepKind = "deposited" | "delivered" | "released" | "refunded" | "timed_out";

/** Logs what happened to an escrow, and stores its transaction. */
async function logStep(
  { db }: Pick<Context, "db">,
  kind: StepKind,
  event: Extract<DeriveEvent, { kind: `escrow.${string}` }>,
  { block, transaction }: { block: HandlersBlock; transaction: { hash: Hex } },
): Promise<void> {
  if (!(await logEvent(db, event, block))) return;
  const { escrowId, block: number, time, log } = event;
  await db
    .insert(escrowStep)
    .values({ id: `${escrowId}/${kind}`, kind, block: number, time, log, tx: transaction.hash })
    .onConflictDoNothing();
}

ponder.on("HireEscrow:Deposited", async ({ event, context }) => {
  const { escrowId, hireId, buyer, seller, payee, amount, fee, feeRecipient, deadline, arbiter } = event.args;
  const escrow = lower(event.log.address);
  await logStep(
    context,
    "deposited",
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
    event,
  );
});

ponder.on("HireEscrow:Delivered", async ({ event, context }) => {
  const { escrowId, resultHash } = event.args;
  await logStep(
    context,
    "delivered",
    { ...placeOf(event), kind: "escrow.delivered", escrowId, resultHash },
    event,
  );
});

ponder.on("HireEscrow:Released", async ({ event, context }) => {
  const { escrowId, toSeller, toBuyer, fee } = event.args;
  await logStep(
    context,
    "released",
    {
      ...placeOf(event),
      kind: "escrow.released",
      escrowId,
      toSeller: String(toSeller),
      toBuyer: String(toBuyer),
      fee: String(fee),
    },
    event,
  );
});

ponder.on("HireEscrow:Refunded", async ({ event, context }) => {
  const { escrowId, by } = event.args;
  await logStep(
    context,
    "refunded",
    { ...placeOf(event), kind: "escrow.refunded", escrowId, by: lower(by) },
    event,
  );
});

ponder.on("HireEscrow:TimedOut", async ({ event, context }) => {
  const { escrowId, delivered } = event.args;
  await logStep(
    context,
    "timed_out",
    { ...placeOf(event), kind: "escrow.timedOut", escrowId, delivered },
    event,
  );
});
