import type { CustomSchemas } from "tallystick-capabilities/customCapability";
import type { Hex } from "tallystick-protocol/hex";
import type { HireRequest } from "tallystick-protocol/hire/hireRequest";
import type { Listing } from "tallystick-protocol/records/listing";
import type { PaymentPayload } from "../x402/paymentHeaders.ts";

/** A hire that is about to be paid, or is paid, and is not concluded. Amounts are atomic units as decimal strings. */
export type JournalEntry = {
  hireId: Hex;
  jobId: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  listing: Listing;
  request: HireRequest;
  maxPrice: string;
  /** What judges the result: the capability's verifier, the seller's schemas from before the payment, or the caller. */
  judge: "standard" | "caller" | CustomSchemas;
  /** Whether to report the result to the ledger. */
  telemetry: boolean;
  /** Milliseconds since 1970. A process that has not signed by then never sends anything. */
  signsUntil: number;
  /** The signed payment. While it is absent, no payment has left this process. `validUntil` is unix seconds. */
  signed?: { amount: string; payload: PaymentPayload; validUntil: number };
  /** The idempotency key with which the hire was asked for. */
  key?: string;
  /** Whether the result was judged, and the report for the ledger was stored. */
  isReported?: boolean;
  /**
   * The result has passed its verification, but its release did not get through. The caller has the result, so the money
   * of the escrow is the seller's.
   */
  isGood?: boolean;
};
