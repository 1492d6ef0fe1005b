import type { SQL } from "drizzle-orm";
import { and, asc, eq, gte, like, lte, sql } from "ponder";
import { parseUsdc } from "../../../../protocol/amount.ts";
import * as schema from "../../../ponder.schema.ts";
import { type Reputation, reputationOf } from "../../derive/reputation.ts";
import type { Row } from "../../derive/tables.ts";
import type { Database } from "../graphql/context.ts";
import { type ClusterLoader, clusterOf } from "./clusterOf.ts";
import { readCursor, writeCursor } from "./cursor.ts";
import { offerJson } from "./listingJson.ts";
import { ANY_PLATFORM_ESCROW, type SearchRequest, type SearchResponse } from "./schemas.ts";

/** The order of results, as it is published. */
export const SEARCH_RANKING = [
  "trust_tier, highest first",
  "success_rate in whole percent, highest first; null last",
  "digits of last_30d_hire_count before the point, most first",
  "price_usdc, lowest first",
  "agent_id, capability and payment_mode, ascending",
];

type Match = { listing: Row<"listing">; agent: Row<"agent">; reputation: Reputation };

/** Listings read at once after a first page that had too few matches. */
const BATCH = 200;

/**
 * Live listings of one capability that pass every filter, in the published order (SHP §6). They are read from one index in
 * that order. Rates are prefiltered there by the percent and tenths copied to listings, then compared as they are published.
 */
export async function search(
  db: Database,
  clusters: ClusterLoader,
  request: SearchRequest,
): Promise<SearchResponse> {
  const matches: Match[] = [];
  let after = request.cursor ? placeAfter(request.cursor) : undefined;
  let wanted = request.limit + 1;
  for (;;) {
    const rows = await listingsAfter(db, request, after, wanted);
    for (const { listing, agent } of rows) {
      const reputation = reputationOf(agent, null, []);
      if (passes(reputation, request)) matches.push({ listing, agent, reputation });
    }
    const last = rows.at(-1);
    if (matches.length > request.limit || rows.length < wanted || last === undefined) break;
    after = beyond(placeOf(last.listing));
    wanted = BATCH;
  }
  const page = matches.slice(0, request.limit);
  const last = page.at(-1);
  return {
    agents: await Promise.all(page.map((match) => resultOf(match, clusters))),
    next_cursor: matches.length > request.limit && last ? writeCursor(placeOf(last.listing)) : null,
  };
}

function listingsAfter(db: Database, request: SearchRequest, after: SQL | undefined, limit: number) {
  const { listing, agent } = schema;
  return db
    .select({ listing, agent })
    .from(listing)
    .innerJoin(agent, eq(agent.id, listing.agent))
    .where(and(...filters(request), after))
    .orderBy(asc(listing.rank), asc(listing.price), asc(listing.id))
    .limit(limit);
}

function filters(request: SearchRequest): (SQL | undefined)[] {
  const { listing } = schema;
  const given = <T>(value: T | null | undefined, filter: (value: T) => SQL): SQL | undefined =>
    value === null || value === undefined ? undefined : filter(value);
  return [
    eq(listing.capability, request.capability),
    eq(listing.live, true),
    given(request.max_price_usdc, (price) => lte(listing.price, parseUsdc(price, "max_price_usdc"))),
    given(request.max_latency_ms, (most) => lte(listing.maxLatencyMs, most)),
    given(request.min_trust_tier, (least) => gte(listing.trustTier, least)),
    given(request.payment_mode, (mode) =>
      mode === ANY_PLATFORM_ESCROW
        ? like(listing.paymentMode, "platform\\_escrow:%")
        : eq(listing.paymentMode, mode),
    ),
    given(request.min_verification_version, (least) => gte(listing.verificationRank, Number(least.slice(1)))),
    given(request.clarification_supported, (wanted) => eq(listing.clarificationSupported, wanted)),
    given(request.min_success_rate, (least) => gte(listing.successPercent, Math.floor(least * 100))),
    given(request.min_avg_stars, (least) => gte(listing.starTenths, Math.floor(least * 10))),
  ];
}

/** A rate that is null passes no minimum, not even 0. */
function passes(reputation: Reputation, { min_success_rate, min_avg_stars }: SearchRequest): boolean {
  return reaches(reputation.success_rate, min_success_rate) && reaches(reputation.avg_stars, min_avg_stars);
}

function reaches(value: number | null, least: number | null | undefined): boolean {
  return least === null || least === undefined || (value !== null && value >= least);
}

type ListingPlace = [rank: number, price: string, id: string];

function placeOf({ rank, price, id }: Row<"listing">): ListingPlace {
  return [rank, price.toString(), id];
}

function placeAfter(cursor: string): SQL {
  return beyond(readCursor(cursor, ["number", "digits", "text"]) as ListingPlace);
}

/** A row comparison, which the index over these columns answers. */
function beyond([rank, price, id]: ListingPlace): SQL {
  const { listing } = schema;
  return sql`(${listing.rank}, ${listing.price}, ${listing.id}) > (${rank}, ${price}::numeric(78), ${id})`;
}

async function resultOf(
  { listing, agent, reputation }: Match,
  clusters: ClusterLoader,
): Promise<SearchResponse["agents"][number]> {
  const cluster = await clusterOf(agent, clusters);
  const membership = { cluster_id: cluster?.id ?? null, cluster_size: cluster?.size ?? 1 };
  return {
    agent_id: agent.id,
    ...membership,
    listing: offerJson(listing),
    reputation: {
      success_rate: reputation.success_rate,
      avg_latency_ms: reputation.avg_latency_ms,
      last_30d_hire_count: reputation.last_30d_hire_count,
      avg_stars: reputation.avg_stars,
      total_ratings: reputation.total_ratings,
      claim_status: reputation.claim_status,
      claimed: reputation.claimed,
      trust_tier: reputation.trust_tier,
      ...membership,
    },
  };
}
