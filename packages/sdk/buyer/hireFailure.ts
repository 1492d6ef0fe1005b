import {
  type EscrowOfHire,
  HireFailedError,
  type MoneyState,
  type SellerWords,
  sellerWords,
} from "../errors.ts";
import type { Hiring } from "./hiring.ts";
import type { SellerResponse } from "./sellerClient.ts";

/** The error for an answer without a delivery. It contains the seller's own text if there is one. */
export function refusedBy(
  hiring: Hiring,
  { status, body }: SellerResponse,
  money: MoneyState,
): HireFailedError {
  const problem = Object(body) as { code?: unknown; detail?: unknown; hint?: unknown; error?: unknown };
  const text = [problem.detail, problem.error].find((it) => typeof it === "string");
  return failed(hiring, {
    code: "seller_refused",
    message: `The seller answered ${status}.`,
    money,
    words: sellerWords({ code: problem.code, text, hint: problem.hint }),
  });
}

/** What to do next. It depends on where the money is. */
export const MONEY_HINTS: { [money in MoneyState]: string } = {
  none: "Nothing was paid. Hire somebody else.",
  authorized: "The seller can still take the payment until it expires. Look the job up before hiring again.",
  paid: "The seller has the money. Rate the seller, and use an escrow next time.",
  held: "The escrow has the money. Resume the hire, which releases or refunds it. From the deadline on anybody may send it back (timeoutRefund); a keeper does.",
  refunded: "The money is back.",
};

/** The error of a hire that failed at its seller. */
export function failed(
  { candidate, hireId, jobId }: Hiring,
  failure: {
    code: string;
    message: string;
    money: MoneyState;
    hint?: string;
    escrow?: EscrowOfHire | undefined;
    words?: SellerWords | undefined;
    cause?: unknown;
  },
): HireFailedError {
  const { code, message, money, hint, escrow, words, cause } = failure;
  const seller = candidate.listing.agent_id;
  return new HireFailedError({
    code,
    message,
    hint: hint ?? MONEY_HINTS[money],
    seller,
    money,
    hireId,
    jobId,
    escrow,
    words,
    cause,
  });
}
