import type { CapabilityOutput } from "tallystick-capabilities/capabilityTypes";
import type { Verification } from "tallystick-capabilities/verification";
import type { Hex } from "tallystick-protocol/hex";
import type { ReceiptSummary } from "tallystick-protocol/hire/hireAnswer";
import type { Listing } from "tallystick-protocol/records/listing";
import type { EscrowOfHire, MoneyState } from "../errors.ts";

/** A hire that came to its end. Amounts are atomic units; the result has the type of its capability. */
export type HireResult<Id extends string = string> = {
  result: CapabilityOutput<Id>;
  /** The buyer's own check of the result. */
  verification: Verification;
  hireId: Hex;
  jobId: string;
  listing: Listing;
  /** What was signed for: 0 for a free call. */
  amount: bigint;
  pricePaidUsdc: string;
  paymentMode: string;
  /**
   * Where the money is: none for a free call; paid, released, refunded or held, as the chain shows it; authorized while
   * nobody here has seen it there.
   */
  money: MoneyState | "released";
  /** The payment (direct) or the deposit (escrow), by the seller's word. */
  tx: Hex | null;
  /** The release or refund, in escrow mode. */
  settlementTx: Hex | null;
  /** Where the money went first, in escrow mode. */
  escrow: EscrowOfHire | null;
  receipt: ReceiptSummary | null;
  /** What is wrong with the seller's receipt; empty when all is well. */
  receiptIssues: string[];
  /** Its entry in the ledger, null while it is not there. */
  receiptHash: string | null;
  ratingToken: string | null;
  /** From the request to the result, in milliseconds. */
  latencyMs: number;
  /** This is the hire of an earlier call with the same idempotency key: nothing was paid by this one. */
  isRepeated?: true;
};
