import { formatUsdc } from "../../../../protocol/amount.ts";
import { paymentKey } from "../../derive/payments.ts";
import type { Row } from "../../derive/tables.ts";
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
      description: "By the buyer's EIP-3009 signature; else the buyer signed the receipt.",
    }),
  }),
});

builder.objectFields(HireRef, (t) => ({
  payment: t.field({
    type: PaymentRef,
    nullable: true,
    description: "The log that paid for it; null when it went over an escrow.",
    resolve: (hire, _, context) => paymentOf(hire, context),
  }),
  escrow: t.field({
    type: EscrowRef,
    nullable: true,
    resolve: ({ escrowId }, _, { load }) => (escrowId === null ? null : load.escrow.load(escrowId)),
  }),
}));

/** Payments that a receipt could mean are numbered; the one it claimed names it. */
async function paymentOf(hire: Row<"hire">, { load }: QueryContext): Promise<Row<"payment"> | null> {
  if (hire.escrowId !== null || hire.receipt === null) return null;
  const receipt = await load.receipt.load(hire.receipt);
  const key = paymentKey(hire.tx, hire.buyer, receipt?.payee ?? hire.seller, hire.amount);
  for (let n = 0; ; n++) {
    const payment = await load.payment.load(`${key}/${n}`);
    if (payment === null || payment.receipt === hire.receipt) return payment;
  }
}
