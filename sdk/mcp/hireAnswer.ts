import { z } from "zod";
import type { HireResult } from "../buyer/hireOnce.ts";
import type { ResumedHire } from "../buyer/resumeHires.ts";
import { type EscrowOfHire, HireFailedError } from "../errors.ts";

/** The escrow of a hire, in a tool's answer. */
export const escrowOfHireSchema = z.object({
  contract: z.string(),
  escrow_id: z.string(),
  deadline: z.number().describe("Unix seconds; from then on what it still holds goes back."),
});

/** How a hire was paid and what is left to do about its money. */
export const hireMoneySchema = z.object({
  payment_mode: z.string(),
  money: z.string().describe("none, authorized, paid, held, released or refunded."),
  tx: z.string().nullable().describe("The payment, or in escrow mode the deposit, by the seller's word."),
  settlement_tx: z.string().nullable().describe("The release or refund, in escrow mode."),
  escrow: escrowOfHireSchema.nullable(),
  next_step: z.string().describe("What is to be done about the money."),
});

/** A hire that was taken up again, in a tool's answer. */
export const resumedHireSchema = z.object({
  hire_id: z.string(),
  agent_id: z.string().nullable(),
  money: z.string(),
  all_passed: z.boolean().nullable().describe("Whether the result verified; null while there is none."),
  receipt_hash: z.string().nullable(),
  settlement_tx: z.string().nullable(),
  escrow: escrowOfHireSchema.nullable(),
  next_step: z.string(),
});

/** The part of `hire_agent`'s answer that is about the money. */
export function hireMoney(hire: HireResult): z.output<typeof hireMoneySchema> {
  const { paymentMode, money, tx, settlementTx, escrow } = hire;
  return {
    payment_mode: paymentMode,
    money,
    tx,
    settlement_tx: settlementTx,
    escrow: escrow && plainEscrow(escrow),
    next_step: nextStep(money, escrow ?? undefined),
  };
}

/** What became of an interrupted hire. */
export function resumedHire(resumed: ResumedHire): z.output<typeof resumedHireSchema> {
  const { hireId, escrow } = resumed;
  const of = { hire_id: hireId, escrow: escrow && plainEscrow(escrow) };
  if ("hire" in resumed) {
    const { listing, verification, receiptHash, money, settlementTx } = resumed.hire;
    return {
      ...of,
      agent_id: listing.agent_id,
      money,
      all_passed: verification.all_passed,
      receipt_hash: receiptHash,
      settlement_tx: settlementTx,
      next_step: nextStep(money, escrow ?? undefined),
    };
  }
  const { error, money } = resumed;
  const failed = error instanceof HireFailedError ? error : undefined;
  return {
    ...of,
    agent_id: failed?.seller ?? null,
    money,
    all_passed: null,
    receipt_hash: null,
    settlement_tx: null,
    next_step: `${error.message} ${failed ? nextStep(money, escrow ?? undefined) : error.hint}`,
  };
}

/** What is to be done about the money of a hire, in words. */
export function nextStep(money: HireResult["money"], escrow?: EscrowOfHire): string {
  const back = escrow && new Date(escrow.deadline * 1000).toISOString();
  switch (money) {
    case "none":
      return "Nothing was paid, so nothing is to be done.";
    case "paid":
      return escrow
        ? "The escrow has paid the seller. Rate it with rate_agent."
        : "It was paid directly, which is final: rate it with rate_agent.";
    case "released":
      return "The result verified, so the escrow was released to the seller. Rate it with rate_agent.";
    case "refunded":
      return "The result did not verify or never came, so the escrow sent the money back; it may be spent again.";
    case "held":
      return `The escrow still holds the money. Call resume_hires: it releases what verifies and refunds the rest. If nobody does, it goes back from ${back} on (timeoutRefund, which anybody may send).`;
    case "authorized":
      return escrow
        ? `The seller has a signature for the escrow. It can deposit until ${back}, and from then on what is held goes back. Call resume_hires after that to have the amount back in the budget.`
        : "The seller has a signature and can use it until it expires. Call resume_hires after that to have the amount back in the budget.";
  }
}

function plainEscrow({ contract, escrowId, deadline }: EscrowOfHire): z.output<typeof escrowOfHireSchema> {
  return { contract, escrow_id: escrowId, deadline };
}
