import type { Address } from "tallystick-protocol/address";
import type { Hex } from "tallystick-protocol/hex";
import type { RecordBody } from "tallystick-protocol/json/recordBody";
import { readSettledEntry } from "../readSettledEntry.ts";
import { type Fetch, requestService, ServiceError } from "../requestService.ts";

/** A receipt as its seller signed it. */
export type SignedReceipt = { body: RecordBody; signer: Address; signature: Hex };

/**
 * The entry hash of a hire's receipt, as the ledger itself gives it. The seller's own answer is not enough: it
 * could name no entry, or the entry of another hire. Then the buyer's verdict and stars would go to that other
 * hire. The ledger takes the receipt from anyone, because the seller has signed it. For a receipt that it already
 * has, it gives the same answer.
 *
 * @throws ServiceError when the ledger cannot be asked, or does not take the receipt
 */
export async function receiptInLedger(
  { baseUrl, fetch }: { baseUrl: string; fetch: Fetch },
  { body, signer, signature }: SignedReceipt,
): Promise<string> {
  try {
    const sent = { body, signer, signature };
    const { text } = await requestService({ baseUrl, path: "/v1/receipts", body: sent, fetch });
    return readSettledEntry(text).hash;
  } catch (error) {
    // The seller gave the ledger another receipt of the same hire.
    if (error instanceof ServiceError && error.code === "conflicting_record" && error.existing !== undefined)
      return error.existing;
    throw error;
  }
}
