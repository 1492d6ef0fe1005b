import { formatAmount } from "../design/format.ts";
import { type ActName, partsOf } from "./acts.ts";
import { type EscrowTerms, isNamed, payeeOf } from "./termsOf.ts";
import { decimalOf } from "./usdc.ts";

const usdc = (atomic: bigint): string => `${formatAmount(decimalOf(atomic))} USDC`;

/**
 * Explains what an action does with the money, from the terms alone. The reader sees it before signing anything.
 * Accounts are written in full, because anybody can make, in minutes, an account with the same first and last digits.
 */
export function actWords(
  { hire }: EscrowTerms,
  {
    name,
    toSeller = 0n,
    account,
    owed,
  }: { name: ActName; toSeller?: bigint; account?: string; owed?: bigint },
): string[] {
  const payee = payeeOf(hire);
  const buyer = hire.buyer;
  const feeOf = (fee: bigint): string =>
    fee > 0n ? `, and ${usdc(fee)} as the fee to ${hire.feeRecipient}` : "";
  switch (name) {
    case "markDelivered":
      return [
        "You say on the chain that you delivered. It can be said once, and not taken back.",
        `The ${usdc(hire.amount)} stay where they are: the buyer releases them, or they go back after the deadline. In that case everybody can see that the buyer stayed silent after a delivery.`,
      ];
    case "release":
      return [
        `${usdc(hire.amount - hire.fee)} go to ${payee}${feeOf(hire.fee)}.`,
        "This is final: nobody can take it back. Release when the work is what you agreed on.",
      ];
    case "split": {
      const parts = partsOf(hire, toSeller);
      return [
        `${usdc(parts.toPayee)} go to ${payee}${feeOf(parts.fee)}. ${usdc(parts.toBuyer)} come back to the buyer, ${buyer}.`,
        "This is final: nobody can take it back.",
      ];
    }
    case "refund":
      return [`${usdc(hire.amount)} go back to the buyer, ${buyer}. The seller gets nothing. This is final.`];
    case "timeoutRefund":
      return [
        `${usdc(hire.amount)} go back to the buyer, ${buyer}, since the deadline has passed. This is final.`,
      ];
    case "withdraw":
      return [
        `${owed === undefined ? "What the contract owes" : usdc(owed)} goes to ${account ?? ""}: the token refused an earlier payment to it.`,
      ];
  }
}

/** Sentences about what a deposit means for the buyer. The page shows the whole accounts below them. */
export function depositWords({ hire }: Pick<EscrowTerms, "hire">, deadline: string): string[] {
  const fee = hire.fee > 0n ? `, and ${usdc(hire.fee)} as the fee to the account below` : "";
  return [
    `You put ${usdc(hire.amount)} into the contract, for the seller's work.`,
    `When you release it, ${usdc(hire.amount - hire.fee)} go to ${
      payeeOf(hire) === hire.seller ? "the seller" : "the account that is paid for the seller"
    }${fee}.`,
    isNamed(hire.arbiter)
      ? "You, the seller and the arbiter can each send all of it back to you."
      : "You and the seller can each send all of it back to you. There is no arbiter.",
    `If nobody does anything, anyone can send it back to you from ${deadline} on.`,
  ];
}
