import type { CustomSchemas } from "tallystick-capabilities/customCapability";
import type { Hex } from "tallystick-protocol/hex";
import type { HireRequest } from "tallystick-protocol/hire/hireRequest";
import type { Deadline } from "../deadline.ts";
import type { BuyerContext, SignedPayment } from "./buyerContext.ts";
import type { Candidate } from "./findSellers.ts";
import type { SellerClientRequest } from "./sellerClient.ts";
import type { Verify } from "./verifyResult.ts";

/** What is asked of one seller. */
export type Order = {
  params: { [key: string]: unknown };
  maxPrice: bigint;
  /** How long one seller is waited for. */
  maxLatencyMs: number;
  callbackUrl?: string | undefined;
  quoteToken?: string | undefined;
  verify?: Verify | undefined;
  /** The end of the whole call. */
  deadline: Deadline;
  /** Whether to tell the ledger what was measured. */
  telemetry: boolean;
  /** When it was asked for with an idempotency key. */
  keyed?: KeyedOrder | undefined;
  /** Is told how far the hire is. */
  onProgress?: ((stage: HireStage) => void) | undefined;
};

/** How far a hire is. */
export type HireStage = "searching" | "asking" | "working" | "verifying" | "settling";

/** What the idempotency key of a hire keeps of it. */
export type KeyedOrder = {
  key: string;
  /** The nonce for the next seller that is asked. */
  nextNonce: () => Promise<Hex>;
  /** Written down before a payment leaves this process: from then on nobody starts over. */
  signed: (hire: { hireId: Hex; jobId: string; seller: string }) => Promise<void>;
  /** The payment will never leave. */
  unsigned: () => Promise<void>;
};

/** One hire under way. */
export type Hiring = {
  context: BuyerContext;
  candidate: Candidate;
  order: Order;
  ask: SellerClientRequest;
  request: HireRequest;
  hireId: Hex;
  jobId: string;
  /** Milliseconds since 1970. */
  startedAt: number;
  /** Milliseconds that are left for this seller. */
  left: () => number;
  /** What a custom capability's result is held to. */
  schemas?: CustomSchemas | undefined;
  /** Once the payment has left this process: from then on it may be taken. */
  sent?: SignedPayment;
  /** Taken up after a crash, or later: nobody measured how long it took. */
  isResumed?: { isReported: boolean };
};
