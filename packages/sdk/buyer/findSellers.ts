import { formatUsdc, parseUsdc } from "tallystick-protocol/amount";
import { type Listing, listingSchema } from "tallystick-protocol/records/listing";
import { NoSellerError, noRecovery } from "../errors.ts";
import type { SearchRequest } from "../query/answers.ts";
import { meetsRequirements, type Requirements, requirementsAsked } from "./requirements.ts";
import type { FoundAgent, SearchClient } from "./searchClient.ts";
import { readSuspension, requireNotSuspended, type Suspension } from "./suspension.ts";

/** An offer that a search found. */
export type Candidate = {
  listing: Listing;
  price: bigint;
  reputation: FoundAgent["reputation"];
  suspendedUntil?: Suspension;
  /** What the search gave as the signed form of the listing. It is not checked yet. */
  signed?: unknown;
};

/** How many pages of a hundred offers are read. */
const MAX_PAGES = 20;

/** How many offers of a page are read, if a node sends more than it was asked for. */
const MAX_ON_A_PAGE = 1_000;

/** What a hire wants from its seller. `mode` is `direct`, `escrow` (any that is allowed) or one payment mode. */
export type Wishes = {
  capability: string;
  maxPrice: bigint;
  maxLatencyMs: number;
  mode: string;
  seller?: string | undefined;
  minSuccessRate?: number | undefined;
  minAvgStars?: number | undefined;
  minTrustTier?: number | undefined;
  require?: Requirements | undefined;
  /** Whether a suspended agent is accepted. */
  allowSuspended?: boolean | undefined;
  /** Whether an escrow payment mode may be used. */
  allowsEscrow: (paymentMode: string) => boolean;
  /** The buyer. Its own offers are left out, because nobody hires itself. */
  buyer: string;
};

/**
 * The sellers that a hire may use, in the search's order, which is the published ranking. Avoided sellers come last.
 * The next page is read only when the caller has used all offers of this page. Every offer is checked against the
 * wishes again.
 *
 * @throws NoSellerError `no_seller`, `seller_suspended` when the wanted seller takes no new hires now, or
 * `no_recovery` when sellers exist, but no allowed escrow can pay any of them; the error of the search when it
 * fails and no avoided seller is left to try
 */
export async function* findSellers(
  client: SearchClient,
  wishes: Wishes,
  { signal, isAvoided = () => false }: { signal?: AbortSignal; isAvoided?: (agent: string) => boolean } = {},
): AsyncGenerator<Candidate, void, undefined> {
  const request: SearchRequest = {
    capability: wishes.capability,
    max_price_usdc: formatUsdc(wishes.maxPrice),
    max_latency_ms: wishes.maxLatencyMs,
    ...(wishes.minSuccessRate !== undefined && { min_success_rate: wishes.minSuccessRate }),
    ...(wishes.minAvgStars !== undefined && { min_avg_stars: wishes.minAvgStars }),
    ...(wishes.minTrustTier !== undefined && { min_trust_tier: wishes.minTrustTier }),
    ...requirementsAsked(wishes.require ?? {}),
    ...(wishes.mode === "escrow" ? {} : { payment_mode: wishes.mode }),
    // This lets the error say why the wanted seller is not hired.
    ...((wishes.seller !== undefined || wishes.allowSuspended === true) && { include_suspended: true }),
    limit: 100,
  };
  const others: Candidate[] = [];
  const last: Candidate[] = [];
  let isFound = false;
  // The search cannot filter for one seller, or for one of several escrows. So the wanted offer may be far down the
  // list.
  for (let cursor: string | null | undefined, page = 0; page < MAX_PAGES; page++) {
    const asked = { ...request, ...(typeof cursor === "string" && { cursor }) };
    let answer: Awaited<ReturnType<SearchClient["search"]>>;
    try {
      answer = await client.search(asked, signal && { signal });
    } catch (error) {
      if (last.length === 0) throw error;
      break;
    }
    for (const found of answer.agents.slice(0, MAX_ON_A_PAGE)) {
      const candidate = readCandidate(found);
      if (!candidate) continue;
      if (!fits(candidate, wishes)) others.push(candidate);
      else if (isAvoided(candidate.listing.agent_id)) last.push(candidate);
      else {
        isFound = true;
        yield candidate;
      }
    }
    cursor = answer.next_cursor;
    if (typeof cursor !== "string") break;
  }
  yield* last;
  if (!isFound && last.length === 0) throw noSeller(others, wishes);
}

function readCandidate(found: FoundAgent): Candidate | undefined {
  const { agent_id, listing, reputation, steward, signed } = Object(found) as FoundAgent;
  const read = listingSchema.safeParse({ ...listing, agent_id });
  return read.success
    ? {
        listing: read.data,
        price: parseUsdc(read.data.price_usdc),
        reputation: reputation ?? {},
        suspendedUntil: readSuspension(steward?.suspended_until),
        signed,
      }
    : undefined;
}

function fits(candidate: Candidate, wishes: Wishes): boolean {
  const isAllowed = wishes.allowSuspended === true || (candidate.suspendedUntil ?? null) === null;
  return isAllowed && isWanted(candidate, wishes);
}

function isWanted({ listing, price, reputation }: Candidate, wishes: Wishes): boolean {
  const { agent_id: agent, payment_mode: mode } = listing;
  return (
    listing.capability === wishes.capability &&
    !listing.retired &&
    agent !== wishes.buyer &&
    (wishes.seller === undefined || agent === wishes.seller) &&
    price <= wishes.maxPrice &&
    listing.max_latency_ms <= wishes.maxLatencyMs &&
    isOfMode(mode, wishes.mode) &&
    meetsRequirements(reputation, wishes.require ?? {}) &&
    (mode === "direct" || wishes.allowsEscrow(mode))
  );
}

/** Whether a payment mode is the wanted one: `escrow` means any but `direct`. */
export function isOfMode(paymentMode: string, wanted: string): boolean {
  return wanted === "escrow" ? paymentMode !== "direct" : paymentMode === wanted;
}

function noSeller(found: readonly Candidate[], wishes: Wishes): NoSellerError {
  const { capability, maxPrice, maxLatencyMs, mode } = wishes;
  const suspended = found.find((it) => it.suspendedUntil != null && isWanted(it, wishes));
  if (suspended) requireNotSuspended(suspended.listing, suspended.suspendedUntil ?? null);
  const refusedEscrows = found
    .map(({ listing }) => listing.payment_mode)
    .filter((it) => it !== "direct" && !wishes.allowsEscrow(it));
  if (mode !== "direct" && refusedEscrows.length > 0) {
    const message = `${capability} is sold only through escrows that this buyer does not allow.`;
    return noRecovery(message, [...new Set(refusedEscrows)]);
  }
  return new NoSellerError({
    code: "no_seller",
    message: `Nobody sells ${capability} for at most ${formatUsdc(maxPrice)} USDC within ${maxLatencyMs} ms (${mode}).`,
    hint: "Raise maxPriceUsdc or maxLatencyMs, or ask for another mode.",
  });
}
