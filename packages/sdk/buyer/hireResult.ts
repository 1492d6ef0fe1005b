import type { CapabilityOutput } from "tallystick-capabilities/capabilityTypes";
import type { Verification } from "tallystick-capabilities/verification";
import type { Hex } from "tallystick-protocol/hex";
import type { ReceiptSummary } from "tallystick-protocol/hire/hireAnswer";
import type { Listing } from "tallystick-protocol/records/listing";
import type { EscrowOfHire, MoneyState } from "../errors.ts";

/** A finished hire. Amounts are atomic units. The result has the type of its capability. */
export type HireResult<Id extends string = string> = {
  result: CapabilityOutput<Id>;
  /** The buyer's own check of the result. */
  verification: Verification;
  hireId: Hex;
  jobId: string;
  listing: Listing;
  /** The signed amount: 0 for a free call. */
  amount: bigint;
  pricePaidUsdc: string;
  paymentMode: string;
  /**
   * Where the money is: none for a free call; paid, released, refunded or held, as the chain shows it; authorized
   * while the chain does not show it.
   */
  money: MoneyState | "released";
  /** The transaction of the payment (direct) or of the deposit (escrow), as the seller says. */
  tx: Hex | null;
  /** The transaction of the release or refund, in escrow mode. */
  settlementTx: Hex | null;
  /** The escrow that received the money, in escrow mode. */
  escrow: EscrowOfHire | null;
  receipt: ReceiptSummary | null;
  /** What is wrong with the seller's receipt; empty when nothing is. */
  receiptIssues: string[];
  /**
   * The hash of the receipt's entry in the ledger; null while there is no entry. `find`, with the hire's key, shows
   * it later.
   */
  receiptHash: string | null;
  /** The token to rate this hire; null while `receiptHash` is null. */
  ratingToken: string | null;
  /** From the request to the result, in milliseconds. */
  latencyMs: number;
  /** Whether an earlier call with the same idempotency key made this hire. Then this call paid nothing. */
  isRepeated?: true;
};
