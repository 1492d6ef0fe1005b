import { paymentKey } from "tallystick-derive/payments";
import type { Row } from "tallystick-derive/tables";
import { formatUsdc } from "tallystick-protocol/amount";
import { builder } from "./builder.ts";
import type { QueryContext } from "./context.ts";
import { EscrowRef } from "./escrow.ts";
import { HireRef } from "./hire.ts";

const PaymentRef = builder.objectRef<Row<"payment">>("Payment").implement({
  description: "The transfer of the token that paid for a hire: one log of the chain.",
  fields: (t) => ({
    tx: t.string({ resolve: ({ id }) => id.slice(0, id.indexOf("/")) }),
    log: t.field({ type: "SafeInt", resolve: ({ log }) => log }),
    block: t.field({ type: "SafeInt", resolve: ({ block }) => block }),
    time: t.field({ type: "SafeInt", resolve: ({ time }) => time }),
    from: t.field({ type: "Address", resolve: ({ from }) => from }),
    to: t.field({ type: "Address", resolve: ({ to }) => to }),
    amountUsdc: t.field({ type: "Usdc", resolve: ({ value }) => formatUsdc(value) }),
    authorized: t.exposeBoolean("authorized", {
      description: "Whether the buyer authorized it by EIP-3009. If not, the buyer signed the receipt.",
    }),
  }),
});

builder.objectFields(HireRef, (t) => ({
  payment: t.field({
    type: PaymentRef,
    nullable: true,
    description: "The log that paid for it; null for an escrow hire.",
    resolve: (hire, _, context) => paymentOf(hire, context),
  }),
  escrow: t.field({
    type: EscrowRef,
    nullable: true,
    resolve: ({ escrowId }, _, { load }) => (escrowId === null ? null : load.escrow.load(escrowId)),
  }),
}));

/**
 * This many payments are read first. A transaction rarely pays the same amount between the same two wallets
 * more often.
 */
const FEW = 4;
const MANY = 1_000;

/**
 * Finds the payment of a hire. Equal payments of a transaction are numbered, and the hire's id ends with the
 * log index of the right one. It takes at most two look-ups.
 */
async function paymentOf(
  hire: Row<"hire">,
  { load, takeRows }: QueryContext,
): Promise<Row<"payment"> | null> {
  if (hire.escrowId !== null || hire.receipt === null) return null;
  const receipt = await load.receipt.load(hire.receipt);
  const key = paymentKey(hire.tx, hire.buyer, receipt?.payee ?? hire.seller, hire.amount);
  const numbered = (from: number, to: number) =>
    Promise.all(Array.from({ length: to - from }, (_, n) => load.payment.load(`${key}/${from + n}`)));
  const claimed = (payments: (Row<"payment"> | null)[]) =>
    payments.find((it) => hire.id === `${hire.tx}-${it?.log}`) ?? null;
  const first = await numbered(0, FEW);
  if (claimed(first) !== null || first.at(-1) === null) return claimed(first);
  takeRows(MANY / 10);
  return claimed(await numbered(FEW, MANY));
}
