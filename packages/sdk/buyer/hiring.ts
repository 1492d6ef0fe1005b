import type { CustomSchemas } from "tallystick-capabilities/customCapability";
import type { Hex } from "tallystick-protocol/hex";
import type { HireRequest } from "tallystick-protocol/hire/hireRequest";
import type { Listing } from "tallystick-protocol/records/listing";
import type { Deadline } from "../deadline.ts";
import type { BuyerContext, SignedPayment } from "./buyerContext.ts";
import type { Candidate } from "./findSellers.ts";
import type { EarlierHire } from "./hiredBefore.ts";
import type { SellerClientRequest } from "./sellerClient.ts";
import type { Verify } from "./verifyResult.ts";

/** The request to one seller. */
export type Order = {
  params: { [key: string]: unknown };
  maxPrice: bigint;
  /** How long to wait for one seller. */
  maxLatencyMs: number;
  callbackUrl?: string | undefined;
  quoteToken?: string | undefined;
  /** Whether the caller answers for the listing. Then the listing needs no signature of the seller. */
  trustsListing?: boolean;
  verify?: Verify | undefined;
  /** The end of the whole call. */
  deadline: Deadline;
  /** Whether to report the measured latency and verification to the ledger. */
  telemetry: boolean;
  /** Set when the caller gave an idempotency key. */
  keyed?: KeyedOrder | undefined;
  /**
   * A hire under the same key that this store does not have. Nothing is signed before the answer is known. Never
   * rejects.
   */
  earlier?: Promise<EarlierHire | undefined> | undefined;
  /** Called with the progress of the hire. */
  onProgress?: ((stage: HireStage) => void) | undefined;
};

/** The progress of a hire. */
export type HireStage = "searching" | "asking" | "working" | "verifying" | "settling";

/** What a hire with an idempotency key uses and reports. */
export type KeyedOrder = {
  key: string;
  /** The nonce for a seller. */
  nextNonce: (listing: Pick<Listing, "agent_id" | "payment_mode">) => Promise<Hex>;
  /**
   * Stores that the payment is signed, before it leaves this process. After that, no process starts this hire
   * again.
   */
  signed: (hire: { hireId: Hex; jobId: string; seller: string }) => Promise<void>;
  /** Called when the payment will never leave. */
  unsigned: () => Promise<void>;
};

export type Hiring = {
  context: BuyerContext;
  candidate: Candidate;
  order: Order;
  ask: SellerClientRequest;
  request: HireRequest;
  hireId: Hex;
  jobId: string;
  /** The idempotency key with which the hire was asked for. */
  key?: string | undefined;
  /** Milliseconds since 1970. */
  startedAt: number;
  /** Milliseconds that are left for this seller. */
  left: () => number;
  /** The schemas against which a custom capability's result is checked. */
  schemas?: CustomSchemas | undefined;
  /** Set once the wallet has signed a payment, which is stored then, or undone. */
  isSigned?: boolean;
  /** Set once the payment has left this process. From then on the seller may take it. */
  sent?: SignedPayment;
  /**
   * Set for a resumed hire, whose duration nobody measured. `isReported` says that its report is stored already, and
   * `isGood` that its result had passed, so that its money is the seller's.
   */
  isResumed?: { isReported: boolean; isGood: boolean };
};
