import { parseUsdc } from "../protocol/amount.ts";
import type { CapabilityInput } from "../protocol/capabilities/capabilityTypes.ts";
import { checkInput } from "../protocol/capabilities/checkInput.ts";
import { isCapability, isCustomCapability } from "../protocol/capability.ts";
import { InvalidInputError, TallystickError } from "../protocol/errors.ts";
import type { Listing } from "../protocol/records/listing.ts";
import { escrowProviderOf } from "../protocol/records/paymentMode.ts";
import type { BuyerContext } from "./buyer/buyerContext.ts";
import { type Candidate, findSellers, isOfMode } from "./buyer/findSellers.ts";
import { type HireResult, hireOnce, type Order } from "./buyer/hireOnce.ts";
import type { Verify } from "./buyer/verifyResult.ts";
import { HireFailedError, NoSellerError, noRecovery, PaymentRefusedError } from "./errors.ts";

export type { HireResult };

/** What to hire for; `params` have the type of the capability. Prices are USDC ("0.50"), times milliseconds. */
export type HireParameters<Id extends string = string> = {
  capability: Id;
  params: CapabilityInput<Id>;
  maxPriceUsdc: string;
  maxLatencyMs: number;
  /**
   * `direct` (the default), `escrow` for any escrow that is allowed, or one payment mode like `platform_escrow:ID`. With
   * a `listing` the default is its own, and another one is refused.
   */
  mode?: string;
  /** Only where the money comes back when the work is bad: `escrow` by another name (SHP §12). */
  requireRecovery?: boolean;
  /** Only this seller. */
  seller?: string;
  /** A listing that is known already: nothing is searched. */
  listing?: Listing;
  minSuccessRate?: number;
  minAvgStars?: number;
  minTrustTier?: number;
  /** Judges the result in place of the capability's own verification. */
  verify?: Verify;
  /** Asks for an asynchronous hire: the seller also posts the result there. The call still waits for it. */
  callbackUrl?: string;
  quoteToken?: string;
  /** How many sellers may be asked, one after the other, as long as nothing was signed. Default 3. */
  maxAttempts?: number;
  /** Whether to tell the ledger what was measured. Default true. */
  telemetry?: boolean;
  signal?: AbortSignal;
};

/**
 * Hires an agent: finds a seller, agrees on terms, pays, gets the result, verifies it, and, in escrow mode, releases or
 * refunds. A seller that fails before anything was signed is passed over for the next one; after that the hire is never
 * sent to anybody else.
 *
 * @throws InvalidInputError for params that the capability does not take
 * @throws NoSellerError, PaymentRefusedError, BudgetError: nothing was signed
 * @throws HireFailedError saying where the money is
 */
export async function hire(context: BuyerContext, parameters: HireParameters): Promise<HireResult> {
  const { capability, params, maxLatencyMs, maxAttempts = 3 } = parameters;
  const maxPrice = checkParameters(parameters);
  const order: Order = {
    params,
    maxPrice,
    maxLatencyMs,
    callbackUrl: parameters.callbackUrl,
    quoteToken: parameters.quoteToken,
    verify: parameters.verify,
    signal: parameters.signal,
    telemetry: parameters.telemetry ?? true,
  };
  const allowsEscrow = (mode: string): boolean =>
    (!parameters.requireRecovery || escrowProviderOf(mode) !== undefined) && context.allowsEscrow(mode);
  const candidates = parameters.listing
    ? [asCandidate(parameters.listing, parameters, allowsEscrow)]
    : await findSellers(context.search, {
        capability,
        maxPrice,
        maxLatencyMs,
        mode: modeOf(parameters),
        seller: parameters.seller,
        minSuccessRate: parameters.minSuccessRate,
        minAvgStars: parameters.minAvgStars,
        minTrustTier: parameters.minTrustTier,
        allowsEscrow,
        buyer: context.address,
      });
  let last: unknown;
  for (const candidate of candidates.slice(0, Math.max(1, maxAttempts))) {
    try {
      return await hireOnce(context, candidate, order);
    } catch (error) {
      if (!isBeforePayment(error)) throw error;
      last = error;
    }
  }
  throw last;
}

/** Whether the next seller may be asked: nothing of this one's was signed, and another may do better. */
function isBeforePayment(error: unknown): boolean {
  if (error instanceof HireFailedError) return error.money === "none";
  if (error instanceof PaymentRefusedError) return true;
  return error instanceof TallystickError && error.code === "private_address";
}

function modeOf({ mode = "direct", requireRecovery = false }: HireParameters): string {
  return requireRecovery && mode === "direct" ? "escrow" : mode;
}

/** A listing that the caller brings: held to what it asks of escrows, and for the rest to its limits when it is paid. */
function asCandidate(
  listing: Listing,
  { requireRecovery = false, mode: wanted }: HireParameters,
  allowsEscrow: (mode: string) => boolean,
): Candidate {
  const { payment_mode: mode } = listing;
  if (mode === "direct" ? requireRecovery : !allowsEscrow(mode)) {
    throw noRecovery(`${mode} is no escrow that this buyer allows.`);
  }
  if (wanted !== undefined && !isOfMode(mode, wanted)) {
    throw new NoSellerError({
      code: "no_seller",
      message: `This offer is paid ${mode}, not ${wanted}.`,
      hint: "Take another offer, or its own mode.",
    });
  }
  return { listing, price: parseUsdc(listing.price_usdc), reputation: {} };
}

function checkParameters(parameters: HireParameters): bigint {
  const { capability, params, maxPriceUsdc, maxLatencyMs } = parameters;
  if (!isCapability(capability)) {
    throw new InvalidInputError({ issues: [{ field: "capability", message: "must be a capability id" }] });
  }
  if (!Number.isSafeInteger(maxLatencyMs) || maxLatencyMs < 1) {
    throw new InvalidInputError({
      issues: [{ field: "maxLatencyMs", message: "must be whole milliseconds" }],
    });
  }
  if (!isCustomCapability(capability)) checkInput(capability, params);
  return parseUsdc(maxPriceUsdc, "maxPriceUsdc");
}
