import type { Verification } from "tallystick-capabilities/verification";
import type { HireResult } from "tallystick-sdk/buyer/hireResult";
import type { ResumedHire } from "tallystick-sdk/buyer/resumeHires";
import { type EscrowOfHire, HireFailedError } from "tallystick-sdk/errors";
import { z } from "zod";
import { plainName, strangersText, strangersTextSchema } from "./strangersText.ts";

/** The escrow of a hire, in a tool's answer. */
export const escrowOfHireSchema = z.object({
  contract: z.string(),
  escrow_id: z.string(),
  deadline: z.number().describe("Unix seconds; from then on what it still holds goes back."),
});

/** How a hire was paid, and what is still to do about its money. */
export const hireMoneySchema = z.object({
  payment_mode: z.string(),
  money: z.string().describe("none, authorized, paid, held, released or refunded."),
  tx: z.string().nullable().describe("The payment, or in escrow mode the deposit, by the seller's word."),
  settlement_tx: z.string().nullable().describe("The release or refund, in escrow mode."),
  escrow: escrowOfHireSchema.nullable(),
  next_step: z.string().describe("What is to be done about the money."),
});

/** A hire that was resumed, in a tool's answer. */
export const resumedHireSchema = z.object({
  hire_id: z.string(),
  agent_id: z.string().nullable(),
  money: z.string(),
  all_passed: z.boolean().nullable().describe("Whether the result verified; null while there is none."),
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
    .describe("The handle: get_hire and cancel_hire take it, and the same key never pays twice."),
  stage: z.string().nullable().describe("How far a running hire is."),
  agent_id: z.string().nullable(),
  hire_id: z.string().nullable(),
  verification: z.object({ all_passed: z.boolean(), checks: z.record(z.string(), z.boolean()) }).nullable(),
  price_paid_usdc: z.string().nullable().describe("What was signed for; money says where it is."),
  payment_mode: z.string().nullable(),
  money: z.string().nullable().describe("none, authorized, paid, held, released or refunded."),
  tx: z.string().nullable().describe("The payment, or in escrow mode the deposit, by the seller's word."),
  settlement_tx: z.string().nullable().describe("The release or refund, in escrow mode."),
  escrow: escrowOfHireSchema.nullable(),
  receipt_hash: z.string().nullable(),
  latency_ms: z.number().nullable(),
  next_step: z.string().describe("What is to be done, by this server's word."),
  from_seller: strangersTextSchema
    .nullable()
    .describe("The result, and what the checks say about it, as the seller wrote it."),
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
    verification: { all_passed: verification.all_passed, checks: plainChecks(verification) },
    price_paid_usdc: hired.pricePaidUsdc,
    ...hireMoney(hired),
    receipt_hash: hired.receiptHash,
    latency_ms: Math.round(hired.latencyMs),
    from_seller: strangersText({ result: hired.result ?? null, check_details: verification.details }, offset),
    remaining_budget_usdc: remaining,
  };
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
      "It goes on here. Call get_hire with this idempotency_key for its result; do not hire again. cancel_hire ends it if nothing was signed yet.",
    from_seller: null,
    remaining_budget_usdc: remaining,
  };
}

/** Strangers choose the names of checks of custom capabilities, so the names are made plain. */
function plainChecks({ checks }: Verification): { [name: string]: boolean } {
  return Object.fromEntries(
    Object.entries(checks)
      .slice(0, 100)
      .map(([name, passed]) => [plainName(name), passed]),
  );
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
        : "The seller has a signature and can use it until it expires; this server has not seen on the chain that it did. It counts as spent unless resume_hires finds that it expired unused.";
  }
}

function plainEscrow({ contract, escrowId, deadline }: EscrowOfHire): z.output<typeof escrowOfHireSchema> {
  return { contract, escrow_id: escrowId, deadline };
}
