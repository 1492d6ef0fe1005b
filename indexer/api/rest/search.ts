import type { SQL } from "drizzle-orm";
import { and, asc, eq, sql } from "ponder";
import { publishedField } from "tallystick-derive/reputationOf";
import type { Row } from "tallystick-derive/tables";
import { parseUsdc } from "tallystick-protocol/amount";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { type ClusterLoader, clusterIsNamed, clusterOf, keepCluster } from "../rows/clusters.ts";
import { prepared } from "../rows/prepared.ts";
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

type Match = { listing: Row<"listing">; agent: Row<"agent">; cluster: Row<"cluster"> | null };

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
    matches.push(...rows.filter(({ agent }) => passes(agent, request)));
    const last = rows.at(-1);
    if (matches.length > request.limit || rows.length < wanted || last === undefined) break;
    after = placeOf(last.listing);
    wanted = BATCH;
  }
  const page = matches.slice(0, request.limit);
  for (const { cluster } of page) keepCluster(clusters, cluster);
  const last = page.at(-1);
  return {
    agents: await Promise.all(page.map((match) => resultOf(match, clusters))),
    next_cursor: matches.length > request.limit && last ? writeCursor(placeOf(last.listing)) : null,
  };
}

type Values = { [name: string]: string | number | boolean | null };

function listingsAfter(
  db: Database,
  request: SearchRequest,
  after: ListingPlace | undefined,
  limit: number,
): Promise<Match[]> {
  return statement(db, limit, after !== undefined).execute({
    ...valuesOf(request),
    ...(after !== undefined && { rank: after[0], price: after[1], id: after[2] }),
  });
}

/** What a filter compares with; null lets everything pass. */
function valuesOf(request: SearchRequest): Values {
  const { max_price_usdc: price, payment_mode: mode, min_verification_version: version } = request;
  const { min_success_rate: rate, min_avg_stars: stars } = request;
  return {
    capability: request.capability,
    maxPrice: price ? parseUsdc(price, "max_price_usdc").toString() : null,
    maxLatency: request.max_latency_ms ?? null,
    minTier: request.min_trust_tier ?? null,
    mode: mode && mode !== ANY_PLATFORM_ESCROW ? mode : null,
    anyEscrow: mode === ANY_PLATFORM_ESCROW ? true : null,
    minVersion: version ? Number(version.slice(1)) : null,
    clarification: request.clarification_supported ?? null,
    minPercent: rate === null || rate === undefined ? null : Math.floor(rate * 100),
    minTenths: stars === null || stars === undefined ? null : Math.floor(stars * 10),
  };
}

type Statement = { execute: (values: Values) => Promise<Match[]> };

/**
 * The search as a statement that each connection plans once. One for each limit, because a plan for any limit would be a
 * plan for reading far more.
 */
function statement(db: Database, limit: number, hasCursor: boolean): Statement {
  const name = `search_${limit}${hasCursor ? "_after" : ""}`;
  return prepared(db, name, () => prepare(db, name, limit, hasCursor));
}

function prepare(db: Database, name: string, limit: number, hasCursor: boolean): Statement {
  const { listing, agent, cluster } = schema;
  const given = (value: string, type: string, filter: (value: SQL) => SQL) => {
    const placeholder = sql`${sql.placeholder(value)}::${sql.raw(type)}`;
    return sql`(${placeholder} IS NULL OR ${filter(placeholder)})`;
  };
  const after = sql`(${sql.placeholder("rank")}::bigint, ${sql.placeholder("price")}::numeric(78), ${sql.placeholder("id")}::text)`;
  return db
    .select({ listing, agent, cluster })
    .from(listing)
    .innerJoin(agent, eq(agent.id, listing.agent))
    .leftJoin(cluster, clusterIsNamed)
    .where(
      and(
        eq(listing.capability, sql.placeholder("capability")),
        eq(listing.live, true),
        given("maxPrice", "numeric(78)", (most) => sql`${listing.price} <= ${most}`),
        given("maxLatency", "bigint", (most) => sql`${listing.maxLatencyMs} <= ${most}`),
        given("minTier", "bigint", (least) => sql`${listing.trustTier} >= ${least}`),
        given("mode", "text", (mode) => sql`${listing.paymentMode} = ${mode}`),
        given("anyEscrow", "boolean", () => sql`${listing.paymentMode} LIKE 'platform\\_escrow:%'`),
        given("minVersion", "bigint", (least) => sql`${listing.verificationRank} >= ${least}`),
        given("clarification", "boolean", (wanted) => sql`${listing.clarificationSupported} = ${wanted}`),
        given("minPercent", "bigint", (least) => sql`${listing.successPercent} >= ${least}`),
        given("minTenths", "bigint", (least) => sql`${listing.starTenths} >= ${least}`),
        hasCursor ? sql`(${listing.rank}, ${listing.price}, ${listing.id}) > ${after}` : undefined,
      ),
    )
    .orderBy(asc(listing.rank), asc(listing.price), asc(listing.id))
    .limit(limit)
    .prepare(name) as Statement;
}

/** A rate that is null passes no minimum, not even 0. */
function passes(agent: Row<"agent">, { min_success_rate, min_avg_stars }: SearchRequest): boolean {
  return reaches(agent, "success_rate", min_success_rate) && reaches(agent, "avg_stars", min_avg_stars);
}

function reaches(
  agent: Row<"agent">,
  rate: "success_rate" | "avg_stars",
  least: number | null | undefined,
): boolean {
  if (least === null || least === undefined) return true;
  const value = publishedField(agent, rate);
  return value !== null && value >= least;
}

type ListingPlace = [rank: number, price: string, id: string];

function placeOf({ rank, price, id }: Row<"listing">): ListingPlace {
  return [rank, price.toString(), id];
}

function placeAfter(cursor: string): ListingPlace {
  return readCursor(cursor, ["number", "digits", "text"]) as ListingPlace;
}

async function resultOf(
  { listing, agent }: Match,
  clusters: ClusterLoader,
): Promise<SearchResponse["agents"][number]> {
  const cluster = await clusterOf(agent, clusters);
  const membership = { cluster_id: cluster?.id ?? null, cluster_size: cluster?.size ?? 1 };
  return {
    agent_id: agent.id,
    ...membership,
    listing: offerJson(listing),
    reputation: {
      success_rate: publishedField(agent, "success_rate"),
      avg_latency_ms: publishedField(agent, "avg_latency_ms"),
      last_30d_hire_count: publishedField(agent, "last_30d_hire_count"),
      avg_stars: publishedField(agent, "avg_stars"),
      total_ratings: publishedField(agent, "total_ratings"),
      claim_status: publishedField(agent, "claim_status"),
      claimed: publishedField(agent, "claimed"),
      trust_tier: publishedField(agent, "trust_tier"),
      ...membership,
    },
  };
}
