import { networkId } from "../chain/paymentNetwork.ts";
import type { BuyerContext } from "./buyerContext.ts";
import type { JournalEntry } from "./journal.ts";

/**
 * Whether a hire in the journal is this buyer's. Two wallets may share a folder. Only the wallet of a hire can release,
 * refund or report the hire, and only its budget has the reservation. The hire must also be on this buyer's chain: a
 * payment on another chain would look here as if nobody had taken it.
 */
export function isOwnHire(
  { address, network }: Pick<BuyerContext, "address" | "network">,
  { request, signed }: JournalEntry,
): boolean {
  const here = networkId(network);
  return request.buyer_id === address && (signed?.payload.accepted.network ?? here) === here;
}
