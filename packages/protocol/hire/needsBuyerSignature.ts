import type { RecordBody } from "../json/recordBody.ts";

/**
 * Whether a seller waits for its buyer's signature before it sends this receipt to the ledger. A free receipt counts for
 * nothing without it (SHP §11). A direct payment to another payee does not name the agent that worked, and several
 * agents may have this payee.
 */
export function needsBuyerSignature({ agent_id, amount_usdc_atomic, escrow_id, payee }: RecordBody): boolean {
  if (amount_usdc_atomic === "0") return true;
  return payee !== undefined && payee !== agent_id && escrow_id === undefined;
}
