import { parseUsdc } from "tallystick-protocol/amount";
import { canonicalBody, type RecordBody } from "tallystick-protocol/json/recordBody";
import { auditConsent, type Listing } from "tallystick-protocol/records/listing";
import { agentRow, changeAgent, updateAgent } from "./agentRow.ts";
import { ensureAgent } from "./agents.ts";
import type { ApplyContext } from "./applyContext.ts";
import { noteConsent } from "./audits/consents.ts";
import { existingRow } from "./existingRow.ts";
import { noteDeclaration } from "./families/inflows.ts";
import { updateFingerprint } from "./fingerprint/membership.ts";
import { append, itemsOf, listLength } from "./lists.ts";
import { forEachRow } from "./loadedRows.ts";
import { changeOffers } from "./offers.ts";
import { watch } from "./relevant/inflow.ts";
import { type SearchRank, searchRankOf } from "./searchRank.ts";
import type { Row } from "./tables.ts";

export type ListingFacts = {
  hash: string;
  seq: number;
  raw: RecordBody;
  body: Listing;
  payeeSigned: boolean;
};

/**
 * Applies a seller's listing. Registers the seller. The listing replaces the one of the same capability and payment
 * mode, unless that one has a higher `issued_at`. A body that was seen before changes nothing, so nobody can bring
 * back an old price (SHP §7.3.1).
 */
export function listingSettled(context: ApplyContext, facts: ListingFacts): void {
  const { body } = facts;
  const digest = context.sha256Hex(canonicalBody(facts.raw), "utf8");
  if (context.store.get("seenListing", digest) !== null) return;
  context.store.insert("seenListing", { id: digest });
  if (ensureAgent(context, body.agent_id) === null) return;
  if (body.payee !== undefined && facts.payeeSigned) agreePayee(context, body.agent_id, body.payee);

  const listing = rowOf(context, facts, agentRow(context, body.agent_id));
  const current = context.store.get("listing", listing.id);
  if (current === null) {
    context.store.insert("listing", listing);
    append(context.store, listingsOf(body.agent_id), listing.id);
  } else if (listing.issuedAt < current.issuedAt) return;
  else {
    const { auditOperator, auditFrom } = current;
    context.store.update("listing", listing.id, { ...listing, auditOperator, auditFrom });
  }
  const consent = noteConsent(context, listing, auditConsent(body));
  if (consent !== null) {
    const { operator: auditOperator, from: auditFrom } = consent;
    context.store.update("listing", listing.id, { auditOperator, auditFrom });
  }

  const { liveListings, privateListings } = agentRow(context, body.agent_id);
  updateAgent(context, body.agent_id, {
    liveListings: liveListings + Number(listing.live) - Number(current?.live ?? false),
    privateListings: privateListings + Number(isPrivate(listing)) - Number(isPrivate(current)),
  });
  const live = liveListingsOf(context, body.agent_id);
  changeOffers(context, current, listing, live);
  updateFingerprint(context, body.agent_id, live);
}

/** Copies an agent's search rank to its listings if it changed. */
export function settleSearchRank(context: ApplyContext, address: string): void {
  const agent = agentRow(context, address);
  const searchRank = searchRankOf(agent);
  const isSame =
    searchRank.rank === agent.rank &&
    searchRank.successPercent === agent.successPercent &&
    searchRank.starTenths === agent.starTenths;
  if (!isSame) changeSearchRank(context, agent, searchRank);
}

function changeSearchRank(
  context: ApplyContext,
  { id: address, trustTier }: Row<"agent">,
  searchRank: SearchRank,
): void {
  changeAgent(context, address, searchRank);
  forEachRow(itemsOf(context.store, listingsOf(address)), (id) =>
    context.store.update("listing", id, { ...searchRank, trustTier }),
  );
}

function liveListingsOf(context: ApplyContext, agent: string): Row<"listing">[] {
  const live: Row<"listing">[] = [];
  forEachRow(itemsOf(context.store, listingsOf(agent)), (id) => {
    const listing = existingRow(context.store, "listing", id);
    if (listing.live) live.push(listing);
  });
  return live;
}

/** The id of a listing. An agent has one listing for each capability and payment mode. */
export function listingId(body: Listing): string {
  return `${body.agent_id}/${body.capability}/${body.payment_mode ?? "direct"}`;
}

/** The list of all listings that an agent ever had. */
export function listingsOf(agent: string): string {
  return `listings/${agent}`;
}

/** The list of the first agents to which a payee agreed, at most {@link PAID_FOR}. */
export function paidFor(payee: string): string {
  return `paidFor/${payee}`;
}

/** Two agents are enough to know that a payee is shared. */
const PAID_FOR = 2;

function isPrivate(listing: Row<"listing"> | null): boolean {
  return listing?.live === true && listing.privateMetrics;
}

function agreePayee(context: ApplyContext, agent: string, payee: string): void {
  const id = `${agent}/${payee}`;
  if (context.store.get("payee", id) !== null) return;
  context.store.insert("payee", { id, block: context.at.block, log: context.at.log ?? 0 });
  if (payee !== agent && listLength(context.store, paidFor(payee)) < PAID_FOR)
    append(context.store, paidFor(payee), agent);
  noteDeclaration(context, payee);
  watch(context, payee);
}

function rowOf(
  context: ApplyContext,
  { hash, seq, body }: ListingFacts,
  agent: Row<"agent">,
): Row<"listing"> {
  const paymentMode = body.payment_mode ?? "direct";
  return {
    id: listingId(body),
    agent: body.agent_id,
    auditOperator: null,
    auditFrom: null,
    capability: body.capability,
    paymentMode,
    priceUsdc: body.price_usdc,
    price: parseUsdc(body.price_usdc),
    maxLatencyMs: body.max_latency_ms,
    endpoint: body.endpoint,
    firstCallFree: body.first_call_free ?? false,
    privateMetrics: body.private_metrics ?? false,
    clarificationSupported: body.clarification_supported ?? false,
    verificationVersion: body.verification_version ?? null,
    verificationRank: verificationRank(body.verification_version),
    payee: body.payee ?? null,
    live: body.retired !== true,
    issuedAt: body.issued_at ?? 0,
    hash,
    block: context.at.block,
    log: context.at.log ?? 0,
    seq,
    rank: agent.rank,
    trustTier: agent.trustTier,
    successPercent: agent.successPercent,
    starTenths: agent.starTenths,
  };
}

/** v0 is the permissive version (SHP §8.2), and the default for a listing that names none. */
function verificationRank(version = "v0"): number | null {
  const [, digits] = /^v(0|[1-9][0-9]{0,8})$/.exec(version) ?? [];
  return digits === undefined ? null : Number(digits);
}
