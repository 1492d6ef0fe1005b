import { checkInput } from "tallystick-capabilities/checkInput";
import { parseUsdc } from "tallystick-protocol/amount";
import { isCapability, isCustomCapability } from "tallystick-protocol/capability";
import { checkQuote } from "tallystick-protocol/clarification/quote";
import { InvalidInputError, TallystickError } from "tallystick-protocol/errors";
import type { Listing } from "tallystick-protocol/records/listing";
import { escrowProviderOf } from "tallystick-protocol/records/paymentMode";
import type { BuyerContext } from "./buyer/buyerContext.ts";
import { contentKey } from "./buyer/contentKey.ts";
import { findEarlierHire, MOST_ASKED, mayBeLost } from "./buyer/earlierHire.ts";
import { type Candidate, findSellers, isOfMode } from "./buyer/findSellers.ts";
import { hireByKey } from "./buyer/hireByKey.ts";
import { hireOnce } from "./buyer/hireOnce.ts";
import type { HireResult } from "./buyer/hireResult.ts";
import type { KeyedOrder, Order } from "./buyer/hiring.ts";
import { checkKey } from "./buyer/keptHires.ts";
import { signedListing } from "./buyer/signedListing.ts";
import { readSuspension, requireNotSuspended, type Suspension } from "./buyer/suspension.ts";
import { withAskedAt } from "./buyer/withAskedAt.ts";
import { abortable, type Deadline, startDeadline, within } from "./deadline.ts";
import {
  HireFailedError,
  ListingError,
  NoSellerError,
  noRecovery,
  PaymentRefusedError,
  SellerSchemaError,
} from "./errors.ts";
import type { HireParameters } from "./hireParameters.ts";

/** The idempotency key of a call that is always a new hire. */
const NEW_HIRE = "new";

/** Time for the search and for settling, in addition to the time that the sellers get, in milliseconds. */
const BESIDE_MS = 30_000;

/** How long to wait for the node's answer about an SLA, in milliseconds. */
const SLA_MS = 3_000;

/**
 * Hires an agent: finds a seller, checks that the seller signed its listing, and agrees on terms. Then it pays,
 * gets the result and verifies it. In escrow mode it releases or refunds the money. If a seller fails before
 * anything was signed, the next one is tried. After that the hire is never sent to anybody else. Sellers that
 * failed in the last hour are tried last.
 *
 * It never waits longer than its deadline, and never for work that comes after the result: reports to the
 * ledger are sent in the background.
 *
 * A seller that is suspended for a breach of its SLA is not hired, no matter how it was found. A hire that began
 * before the suspension is still concluded, with the same key or by `resume`.
 *
 * @throws InvalidInputError for params that the capability does not accept
 * @throws NoSellerError, ListingError, PaymentRefusedError, BudgetError: nothing was signed
 * @throws DeadlineError, or the signal's reason: nothing was sent
 * @throws HireFailedError saying where the money is
 */
export async function hire(context: BuyerContext, parameters: HireParameters): Promise<HireResult> {
  const { maxLatencyMs, maxAttempts = 3, idempotencyKey } = parameters;
  const maxPrice = await checkParameters(parameters);
  const attempts = Math.max(1, maxAttempts);
  const wholeMs = parameters.deadlineMs ?? attempts * maxLatencyMs + BESIDE_MS;
  const start = (keyed?: KeyedOrder) => hireWithin(context, parameters, maxPrice, attempts, wholeMs, keyed);
  if (idempotencyKey === NEW_HIRE) return await start();
  const key = idempotencyKey === undefined ? await contentKey(context, parameters) : checkKey(idempotencyKey);
  return await hireByKey(context, parameters, key, wholeMs, start);
}

/** Hires within the time for the whole call. */
async function hireWithin(
  context: BuyerContext,
  parameters: HireParameters,
  maxPrice: bigint,
  attempts: number,
  wholeMs: number,
  keyed: KeyedOrder | undefined,
): Promise<HireResult> {
  const { capability, maxLatencyMs, quoteToken } = parameters;
  const params = await withAskedAt(capability, parameters.params, context.now(), quoteToken);
  const deadline = startDeadline(wholeMs, parameters.signal);
  const order: Order = {
    params,
    maxPrice,
    maxLatencyMs,
    callbackUrl: parameters.callbackUrl,
    quoteToken,
    trustsListing: parameters.listing !== undefined && parameters.trustListing === true,
    verify: parameters.verify,
    deadline,
    telemetry: parameters.telemetry ?? true,
    keyed,
    onProgress: parameters.onProgress,
  };
  parameters.onProgress?.("searching");
  try {
    const sellers = candidates(context, parameters, maxPrice, deadline);
    const isNamed = (parameters.listing ?? parameters.seller) !== undefined;
    return await hireFirst(context, sellers, order, attempts, isNamed ? 1 : attempts + 2);
  } finally {
    deadline.end();
  }
}

/**
 * Hires the first seller that accepts. Two cases use up no attempt: a seller that does not answer at all, and a listing
 * that is not proved to be its seller's.
 *
 * @param wouldAsk how many sellers an earlier call whose records are lost may have asked
 */
async function hireFirst(
  context: BuyerContext,
  sellers: AsyncGenerator<Candidate, void, undefined>,
  order: Order,
  maxAttempts: number,
  wouldAsk: number,
): Promise<HireResult> {
  const { signal } = order.deadline;
  const offers = provedOffers(context, sellers, order);
  const { keyed } = order;
  if (keyed && (await abortable(mayBeLost(context, keyed.key), signal))) {
    const first = await abortable(offers.peek(Math.min(wouldAsk, MOST_ASKED)), signal);
    order.earlier = findEarlierHire(context, keyed.key, first);
  }
  let attempts = 0;
  let last: unknown;
  for (;;) {
    // If the search fails after a seller was tried, the caller gets that seller's error.
    const next = await abortable(offers.next(), signal).catch((error: unknown) => {
      if (last === undefined || signal.aborted) throw error;
      return { done: true as const };
    });
    if (next.done) throw last;
    const { candidate, proved } = next.value;
    const { agent_id: agent } = candidate.listing;
    try {
      const hired = await hireOnce(context, await proved(), order);
      const isGood = hired.verification.all_passed;
      context.background.add(isGood ? context.avoided.remove(agent) : context.avoided.add(agent));
      return hired;
    } catch (error) {
      if (isSellersFault(error)) context.background.add(context.avoided.add(agent));
      if (!isBeforePayment(error)) throw error;
      last = error;
      if (!isUncounted(error) && ++attempts >= maxAttempts) throw error;
    }
  }
}

/**
 * An offer as the search gave it, and a function that gives it with the terms that its seller signed. These terms are
 * asked for only once.
 */
type Offered = { candidate: Candidate; proved: () => Promise<Candidate> };

/** Offers in their order. The first ones can be looked at in advance. */
function provedOffers(
  context: BuyerContext,
  sellers: AsyncGenerator<Candidate, void, undefined>,
  order: Order,
) {
  const seen: Offered[] = [];
  const read = async (): Promise<IteratorResult<Offered, void>> => {
    const next = await sellers.next();
    if (next.done) return next;
    const candidate = next.value;
    let asked: Promise<Candidate> | undefined;
    const proved = () => {
      asked ??= asSigned(context, candidate, order);
      return asked;
    };
    return { value: { candidate, proved } };
  };
  return {
    next: async () => {
      const first = seen.shift();
      return first ? { done: false as const, value: first } : await read();
    },
    /** @throws the search's error when it found nobody */
    peek: async (most: number): Promise<Promise<Candidate>[]> => {
      while (seen.length < most) {
        const next = await read().catch((error: unknown) => {
          if (seen.length === 0) throw error;
        });
        if (!next || next.done) break;
        seen.push(next.value);
      }
      return seen.map(({ proved }) => proved());
    },
  };
}

/** The offer with the terms that its seller signed. Its price is that of the quote, if the seller gave one. */
async function asSigned(
  context: BuyerContext,
  candidate: Candidate,
  { quoteToken, params, trustsListing, deadline: { signal } }: Order,
): Promise<Candidate> {
  if (trustsListing) return candidate;
  const { listing: shown, signed } = candidate;
  const isQuoted = quoteToken !== undefined;
  const work = signedListing(context.listings, shown, { signed, isQuoted, signal });
  const listing = await abortable(work, signal);
  const price = parseUsdc(listing.price_usdc);
  if (!isQuoted) return { ...candidate, listing, price };
  const about = { seller: listing.agent_id, buyer: context.address, capability: listing.capability, params };
  const checked = checkQuote(quoteToken, about, Math.floor(context.now() / 1000));
  const promised = "quote" in checked ? checked.quote.price : price;
  // The price is never higher than the price that the caller saw.
  return { ...candidate, listing, price: promised < candidate.price ? promised : candidate.price };
}

async function* candidates(
  context: BuyerContext,
  parameters: HireParameters,
  maxPrice: bigint,
  { signal }: Deadline,
): AsyncGenerator<Candidate, void, undefined> {
  const { capability, maxLatencyMs } = parameters;
  const allowsEscrow = (mode: string): boolean =>
    (!parameters.requireRecovery || escrowProviderOf(mode) !== undefined) && context.allowsEscrow(mode);
  if (parameters.listing) {
    const candidate = asCandidate(parameters.listing, parameters, allowsEscrow);
    if (!parameters.allowSuspended) {
      requireNotSuspended(candidate.listing, await suspensionOf(context, candidate.listing, signal));
    }
    yield candidate;
    return;
  }
  const avoided = await context.avoided.now();
  yield* findSellers(
    context.search,
    {
      capability,
      maxPrice,
      maxLatencyMs,
      mode: modeOf(parameters),
      seller: parameters.seller?.toLowerCase(),
      minSuccessRate: parameters.minSuccessRate,
      minAvgStars: parameters.minAvgStars,
      minTrustTier: parameters.minTrustTier,
      require: parameters.require,
      allowSuspended: parameters.allowSuspended,
      allowsEscrow,
      buyer: context.address,
    },
    { signal, isAvoided: (agent) => avoided.has(agent) },
  );
}

/**
 * Asks the node until when a seller is suspended. If the node does not answer, the hire goes on: no seller can
 * prevent buyers from reaching their node.
 */
async function suspensionOf(
  { search }: BuyerContext,
  { agent_id }: Listing,
  signal: AbortSignal,
): Promise<Suspension> {
  const answer = await within(search.sla(agent_id, { signal }), SLA_MS).catch(() => undefined);
  return readSuspension(answer?.sla_status?.suspended_until);
}

/** Whether the attempt is not counted: the seller did not answer at all, or its listing is not proved to be its own. */
function isUncounted(error: unknown): boolean {
  if (error instanceof ListingError) return true;
  if (error instanceof HireFailedError) {
    return error.code === "seller_unreachable" || error.code === "seller_timeout";
  }
  return error instanceof TallystickError && error.code === "private_address";
}

/** Whether the seller caused the failure. It did not if the caller gave up, or if the budget refused. */
function isSellersFault(error: unknown): boolean {
  if (error instanceof HireFailedError) return error.code !== "aborted";
  // A false listing may come from somebody else, and params that do not fit come from the caller.
  return isBeforePayment(error) && !(error instanceof ListingError || error instanceof SellerSchemaError);
}

/** Whether the next seller may be asked: nothing was signed for this seller, and another seller may do better. */
function isBeforePayment(error: unknown): boolean {
  if (error instanceof HireFailedError) return error.money === "none";
  if (error instanceof PaymentRefusedError || error instanceof ListingError) return true;
  // Another seller's schema may accept these params.
  if (error instanceof SellerSchemaError) return true;
  return error instanceof TallystickError && error.code === "private_address";
}

function modeOf({ mode = "direct", requireRecovery = false }: HireParameters): string {
  return requireRecovery && mode === "direct" ? "escrow" : mode;
}

/** Checks a listing that the caller gave. Its escrow mode is checked now, its other limits at the payment. */
function asCandidate(
  listing: Listing,
  { requireRecovery = false, mode: wanted }: HireParameters,
  allowsEscrow: (mode: string) => boolean,
): Candidate {
  const { payment_mode: mode } = listing;
  if (mode === "direct" ? requireRecovery : !allowsEscrow(mode)) {
    throw noRecovery("This offer is not paid through an escrow that this buyer allows.", [mode]);
  }
  if (wanted !== undefined && !isOfMode(mode, wanted)) {
    throw new NoSellerError({
      code: "no_seller",
      message: `The payment mode of this offer is not ${wanted}.`,
      hint: "Take another offer, or leave the mode out.",
      paymentModes: [mode],
    });
  }
  return { listing, price: parseUsdc(listing.price_usdc), reputation: {} };
}

async function checkParameters(parameters: HireParameters): Promise<bigint> {
  const { capability, params, maxPriceUsdc, maxLatencyMs } = parameters;
  if (!isCapability(capability)) {
    throw new InvalidInputError({ issues: [{ field: "capability", message: "must be a capability id" }] });
  }
  if (!Number.isSafeInteger(maxLatencyMs) || maxLatencyMs < 1) {
    throw new InvalidInputError({
      issues: [{ field: "maxLatencyMs", message: "must be whole milliseconds, at least 1" }],
    });
  }
  if (!isCustomCapability(capability)) await checkInput(capability, params);
  return parseUsdc(maxPriceUsdc, "maxPriceUsdc");
}
