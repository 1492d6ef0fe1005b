import type { Hex } from "../../protocol/hex.ts";
import type { HireRequest } from "../../protocol/hire/hireRequest.ts";
import type { Listing } from "../../protocol/records/listing.ts";
import type { PaymentPayload } from "../x402/paymentHeaders.ts";

/** A hire whose payment was signed and that is not concluded. Amounts are atomic units as decimal strings. */
export type JournalEntry = {
  hireId: Hex;
  jobId: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  listing: Listing;
  request: HireRequest;
  maxPrice: string;
  amount: string;
  payload: PaymentPayload;
  /** Unix seconds. */
  validUntil: number;
};
