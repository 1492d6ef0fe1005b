import { networkId } from "../chain/paymentNetwork.ts";
import type { BuyerContext } from "./buyerContext.ts";
import type { JournalEntry } from "./journal.ts";

/**
 * Whether a hire in the journal is this buyer's. Two wallets may share a folder, and only the own wallet can release, refund
 * or report a hire, and its budget reserved it. And this chain says nothing about a payment on another one: it would seem
 * that nobody took it.
 */
export function isOwnHire(
  { address, network }: Pick<BuyerContext, "address" | "network">,
  { request, signed }: JournalEntry,
): boolean {
  const here = networkId(network);
  return request.buyer_id === address && (signed?.payload.accepted.network ?? here) === here;
}
