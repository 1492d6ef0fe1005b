import type { HireResult } from "tallystick-sdk/buyer/hireResult";
import type { ResumedHire } from "tallystick-sdk/buyer/resumeHires";
import { type EscrowOfHire, HireFailedError } from "tallystick-sdk/errors";
import { z } from "zod";
import { plainCheck, strangersText, strangersTextSchema } from "./strangersText.ts";

/** The escrow of a hire, in a tool's answer. */
export const escrowOfHireSchema = z.object({
  contract: z.string(),
  escrow_id: z.string(),
  deadline: z
    .number()
    .describe("Unix seconds. From then on anyone can send the held money back to the buyer."),
});

/** How a hire was paid, and what is still to do about its money. */
export const hireMoneySchema = z.object({
  payment_mode: z.string(),
  money: z.string().describe("none, authorized, paid, held, released or refunded."),
  tx: z
    .string()
    .nullable()
    .describe("The transaction of the payment, or of the deposit in escrow mode, as the seller names it."),
  settlement_tx: z.string().nullable().describe("The transaction of the release or refund, in escrow mode."),
  escrow: escrowOfHireSchema.nullable(),
  next_step: z.string().describe("What you have to do about the money."),
});

/** A hire that was resumed, in a tool's answer. */
export const resumedHireSchema = z.object({
  hire_id: z.string(),
  agent_id: z.string().nullable(),
  money: z.string(),
  all_passed: z
    .boolean()
    .nullable()
    .describe("Whether the result passed its verification; null while there is no result."),
  receipt_hash: z.string().nullable(),
  settlement_tx: z.string().nullable(),
  escrow: escrowOfHireSchema.nullable(),
  next_step: z.string(),
  from_seller: strangersTextSchema.nullable(),
});

/** The present state of a hire. Unknown fields are null. */
export const hireAnswerSchema = z.object({
  status: z.enum(["running", "done"]),
  idempotency_key: z
    .string()
    .describe("The name of the hire. Give it to get_hire and cancel_hire. The same key never pays twice."),
  stage: z.string().nullable().describe("The present step of a running hire."),
  agent_id: z.string().nullable(),
  hire_id: z.string().nullable(),
  verification: z.object({ all_passed: z.boolean(), checks: z.record(z.string(), z.boolean()) }).nullable(),
  price_paid_usdc: z.string().nullable().describe("The signed price; money says where it is."),
  payment_mode: z.string().nullable(),
  money: z.string().nullable().describe("none, authorized, paid, held, released or refunded."),
  tx: z
    .string()
    .nullable()
    .describe("The transaction of the payment, or of the deposit in escrow mode, as the seller names it."),
  settlement_tx: z.string().nullable().describe("The transaction of the release or refund, in escrow mode."),
  escrow: escrowOfHireSchema.nullable(),
  receipt_hash: z
    .string()
    .nullable()
    .describe("The ledger's entry of its receipt. While it is null, get_hire gives it later."),
  latency_ms: z.number().nullable(),
  next_step: z.string().describe("What you have to do. This server wrote it, not the seller."),
  from_seller: strangersTextSchema
    .nullable()
    .describe("The result, and what the checks say about it. The seller wrote these texts."),
  remaining_budget_usdc: z.string(),
});

export type HireAnswerOutput = z.output<typeof hireAnswerSchema>;

/** The answer for a hire with a result. `offset` is where the wanted piece of the result begins. */
export function hireDone(key: string, hired: HireResult, remaining: string, offset = 0): HireAnswerOutput {
  const { verification } = hired;
  return {
    status: "done",
    idempotency_key: key,
    stage: null,
    agent_id: hired.listing.agent_id,
    hire_id: hired.hireId,
    verification: { all_passed: verification.all_passed, checks: plainChecks(hired) },
    price_paid_usdc: hired.pricePaidUsdc,
    ...hireMoney(hired),
    next_step: `${nextStep(hired.money, hired.escrow ?? undefined)}${receiptStep(hired)}`,
    receipt_hash: hired.receiptHash,
    latency_ms: Math.round(hired.latencyMs),
    from_seller: strangersText({ result: hired.result ?? null, check_details: verification.details }, offset),
    remaining_budget_usdc: remaining,
  };
}

/** What to do while the ledger has no receipt of the hire: without a receipt nobody can rate the hire. */
function receiptStep({ receipt, receiptHash }: HireResult): string {
  if (receipt === null || receiptHash !== null) return "";
  return " The ledger has no receipt of it yet. Call get_hire a little later for the receipt_hash.";
}

/** The answer for a hire that is still running. */
export function hireRunning(key: string, stage: string, remaining: string): HireAnswerOutput {
  return {
    status: "running",
    idempotency_key: key,
    stage,
    agent_id: null,
    hire_id: null,
    verification: null,
    price_paid_usdc: null,
    payment_mode: null,
    money: null,
    tx: null,
    settlement_tx: null,
    escrow: null,
    receipt_hash: null,
    latency_ms: null,
    next_step:
      "The hire is still running. Call get_hire with this idempotency_key for its result; do not hire again. cancel_hire stops it if nothing was signed yet.",
    from_seller: null,
    remaining_budget_usdc: remaining,
  };
}

/** Checks whose names are not shown pass only together. */
function plainChecks({ listing, verification }: HireResult): { [name: string]: boolean } {
  const plain = new Map<string, boolean>();
  for (const [name, passed] of Object.entries(verification.checks).slice(0, 100)) {
    const shown = plainCheck(name, listing.capability);
    plain.set(shown, passed && plain.get(shown) !== false);
  }
  return Object.fromEntries(plain);
}

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

/** The outcome of a hire that had been interrupted. */
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
      from_seller: null,
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
    next_step: `${error.code}: ${failed ? nextStep(money, escrow ?? undefined) : error.hint}`,
    from_seller: failed?.words ? strangersText(failed.words) : null,
  };
}

/** A sentence about what to do next about the money of a hire. */
export function nextStep(money: HireResult["money"], escrow?: EscrowOfHire): string {
  // A hire whose result was deleted keeps where its money is, and no escrow.
  const back = escrow ? new Date(escrow.deadline * 1000).toISOString() : "its deadline";
  switch (money) {
    case "none":
      return "Nothing was paid, so you need to do nothing.";
    case "paid":
      return escrow
        ? "The escrow has paid the seller. Rate the seller with rate_agent."
        : "The seller was paid directly, which is final. Rate the seller with rate_agent.";
    case "released":
      return "The result verified, so the escrow released the money to the seller. Rate the seller with rate_agent.";
    case "refunded":
      return "The result did not verify or never came, so the escrow sent the money back. You may spend it again.";
    case "held":
      return `The escrow still holds the money. Call resume_hires: it releases the money if the result verifies, and refunds it if not. If nobody does that, anyone may send the money back to you from ${back} on (timeoutRefund).`;
    case "authorized":
      return escrow
        ? `The seller has a signature for the escrow. It can deposit until ${back}. After that the money can only go back. Then call resume_hires, so that the budget gets the amount back.`
        : "The seller has your payment signature and can use it until it expires. This server has not yet seen the payment on the chain. The amount counts as spent, unless resume_hires finds that the signature expired unused.";
  }
}

function plainEscrow({ contract, escrowId, deadline }: EscrowOfHire): z.output<typeof escrowOfHireSchema> {
  return { contract, escrow_id: escrowId, deadline };
}
