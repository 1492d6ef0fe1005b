import type { Address } from "tallystick-protocol/address";
import { formatUsdc, parseUsdc } from "tallystick-protocol/amount";
import { TallystickError } from "tallystick-protocol/errors";
import { readBudgetToken, requireBudgetToken } from "tallystick-protocol/hire/budgetToken";
import { hireId, jobId } from "tallystick-protocol/hire/hireIds";
import {
  type HireRequest,
  type ReadHireRequest,
  readHireRequest,
} from "tallystick-protocol/hire/hireRequest";
import type { Listing } from "tallystick-protocol/records/listing";
import type { Job, Offer } from "./job.ts";
import type { Offers } from "./offers.ts";
import { HireRefusedError } from "./sellerErrors.ts";

/** How far a request's `issued_at` may be from this clock, in the past or in the future, in seconds. */
const MAX_AGE_SECONDS = 600;
const CLOCK_TOLERANCE_SECONDS = 120;

/**
 * Checks the quote that a hire presents, and returns its price. `accept` is called when the payment of the hire is
 * verified.
 *
 * @throws HireRefusedError, or InvalidInputError, when the quote is not valid; any other error is reported as
 * `internal`
 */
export type RedeemQuote = (request: HireRequest) => Promise<{ price: bigint; accept?: () => Promise<void> }>;

export type IntakeParameters = {
  seller: Address;
  offers: Offers;
  /** @throws InvalidInputError for params that the capability does not take */
  checkParams: (capability: string, params: unknown) => Promise<void>;
  redeemQuote?: RedeemQuote | undefined;
  /** Whether hires of a listing may be audited. */
  isAudited: (listing: Listing) => boolean;
  /** Milliseconds since 1970. */
  now: () => number;
};

/** A request that this seller would serve if it is paid. */
export type Accepted = ReadHireRequest & {
  offer: Offer;
  /** The request as it was sent, as JSON text, if an auditor may ask for it. */
  asSent?: string | undefined;
  /** Stores that its quote led to a hire. */
  acceptQuote?: (() => Promise<void>) | undefined;
};

/**
 * Reads a hire and checks it against the offers. This comes before the price: a request that cannot be served
 * gets no terms.
 *
 * @throws InvalidInputError, HireRefusedError, TallystickError
 */
export async function acceptRequest(value: unknown, parameters: IntakeParameters): Promise<Accepted> {
  const { seller, offers, checkParams, redeemQuote, isAudited, now } = parameters;
  const { request, signed } = readHireRequest(value, seller);
  if (request.buyer_id === seller) {
    throw refused(400, "self_hire", "The buyer is the seller itself.", "buyer_id");
  }
  requireFresh(request, now());
  let acceptQuote: Accepted["acceptQuote"];
  let offer = offers.find(request.capability, request.preferred_payment_mode);
  const mayBeAudited = isAudited(offer.listing);
  if (mayBeAudited) requireProvable(request, signed);
  if (request.quote_token !== undefined) {
    if (!redeemQuote) throw refused(409, "unknown_quote", "This seller gives no quotes.", "quote_token");
    const { price, accept } = await redeemQuote(request);
    offer = { ...offer, price };
    acceptQuote = accept;
  }
  await checkParams(request.capability, request.params);
  requireLimits(request, offer, now());
  return { request, signed, offer, acceptQuote, asSent: mayBeAudited ? JSON.stringify(value) : undefined };
}

/**
 * Requires a request that its buyer signed and that names this seller, because the hire may be audited. An
 * auditor accepts no other proof of what was asked for, so without it good work would fail.
 */
function requireProvable(request: HireRequest, signed: boolean): void {
  if (signed && request.seller_id !== undefined) return;
  throw new TallystickError({
    code: "signature_required",
    message: "Hires of this listing may be audited, so the buyer must sign them and name the seller.",
    field: signed ? "seller_id" : "signature",
    hint: "Sign the hire with a nonce and seller_id, as swarmwage/v0.3 does.",
  });
}

/** @throws HireRefusedError `stale_request` if the request says that it was made long ago, or in the future */
export function requireFresh({ issued_at: issuedAt }: Pick<HireRequest, "issued_at">, nowMs: number): void {
  if (issuedAt === undefined) return;
  const age = Math.floor(nowMs / 1000) - issuedAt;
  if (age > MAX_AGE_SECONDS || age < -CLOCK_TOLERANCE_SECONDS) {
    throw refused(
      400,
      "stale_request",
      `issued_at differs by ${Math.abs(age)} seconds from this clock.`,
      "issued_at",
    );
  }
}

function requireLimits(request: HireRequest, { listing, price }: Offer, nowMs: number): void {
  if (request.max_price_usdc !== undefined && parseUsdc(request.max_price_usdc) < price) {
    throw refused(409, "price_above_maximum", `It costs ${formatUsdc(price)} USDC.`, "max_price_usdc");
  }
  if (request.max_latency_ms !== undefined && request.max_latency_ms < listing.max_latency_ms) {
    const message = `It may take ${listing.max_latency_ms} ms.`;
    throw refused(409, "latency_above_maximum", message, "max_latency_ms");
  }
  if (request.budget_token === undefined || request.budget_token === null) return;
  const token = readBudgetToken(request.budget_token);
  requireBudgetToken(token, request.buyer_id, Math.floor(nowMs / 1000));
  if (price > token.maxAtomic) {
    throw refused(403, "budget_token_refused", "The price is above the whole budget.", "budget_token");
  }
}

function refused(status: number, code: string, message: string, field: string): HireRefusedError {
  return new HireRefusedError({ status, code, message, field });
}

/**
 * The job of an accepted request. An unsigned request has no nonce, so the payment replaces it. A random part
 * is added, so that nobody who sees the payment on the chain can look up the result.
 */
export function newJob(
  { request, offer, asSent }: Accepted,
  how: { free: boolean; payment?: Job["payment"]; paymentKey?: string; nowMs: number; random: () => string },
): Job {
  const { listing, price } = offer;
  const nonce = request.nonce ?? `${how.paymentKey}-${how.random()}`;
  return {
    id: jobId(request.buyer_id, nonce),
    hireId: hireId(request.buyer_id, nonce),
    protocol: request.protocol,
    buyer: request.buyer_id,
    capability: request.capability,
    mode: listing.payment_mode,
    price: String(price),
    free: how.free,
    params: request.params,
    ...(asSent !== undefined && { request: asSent }),
    listing,
    callbackUrl: request.callback_url ?? undefined,
    acceptedAt: how.nowMs,
    dueAt: how.nowMs + listing.max_latency_ms,
    payment: how.payment,
    stage: "accepted",
  };
}
