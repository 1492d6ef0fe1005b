import type { CapabilityInput } from "tallystick-capabilities/capabilityTypes";
import type { Listing } from "tallystick-protocol/records/listing";
import type { HireStage } from "./buyer/hiring.ts";
import type { Requirements } from "./buyer/requirements.ts";
import type { Verify } from "./buyer/verifyResult.ts";

/** The capability to hire; `params` have its type. Prices are USDC ("0.50"), times milliseconds. */
export type HireParameters<Id extends string = string> = {
  capability: Id;
  params: CapabilityInput<Id>;
  maxPriceUsdc: string;
  /** How long to wait for one seller, from the first request to its result. */
  maxLatencyMs: number;
  /** How long the whole call may take, in milliseconds. Default: `maxAttempts` times `maxLatencyMs`, and 30 s. */
  deadlineMs?: number;
  /**
   * `direct` (the default), `escrow` for any escrow that is allowed, or one payment mode like `platform_escrow:ID`.
   * With a `listing` the default is the listing's mode, and any other mode is refused.
   */
  mode?: string;
  /**
   * Hires only by a `platform_escrow:ID` that is allowed, where the money comes back if the work is bad (SHP §12). The
   * mode `escrow` allows a `custom_escrow:URL` too.
   */
  requireRecovery?: boolean;
  /** Only this seller. */
  seller?: string;
  /**
   * A listing that the caller has already, for example from a quote. Then no search is made. Like every listing, it
   * must have the terms that its seller signed.
   */
  listing?: Listing;
  /**
   * Trusts the caller's `listing`: its payee, endpoint and price need no signature of the seller. Use it for terms
   * that do not come from a search.
   */
  trustListing?: boolean;
  minSuccessRate?: number;
  minAvgStars?: number;
  minTrustTier?: number;
  /** The least figures of the seller's independence (docs/independence.md). */
  require?: Requirements;
  /**
   * Also hires a seller that is suspended because it broke its SLA. Default false: such a hire fails with
   * `seller_suspended`.
   */
  allowSuspended?: boolean;
  /** Judges the result in place of the capability's own verification. */
  verify?: Verify;
  /** Asks for an asynchronous hire: the seller also posts the result there. The call still waits for it. */
  callbackUrl?: string;
  /** The token of a quote that the seller gave in a clarification; see `acceptOffer`. */
  quoteToken?: string;
  /** How many sellers may answer and fail, one after the other, as long as nothing was signed. Default 3. */
  maxAttempts?: number;
  /** Whether to report the measured latency and verification to the ledger. Default true. */
  telemetry?: boolean;
  /** Ends the wait at once, at any stage of the hire. */
  signal?: AbortSignal;
  /**
   * The same key gives the same hire, its state, and its result, for 30 days. So a caller that got no answer may call
   * again. 1 to 200 visible ASCII characters. Default: made of what is asked for, so that the same call within an
   * hour is the same hire. `"new"` makes every call a hire of its own.
   */
  idempotencyKey?: string;
  /** Called with the progress of the hire. */
  onProgress?: (stage: HireStage) => void;
};
