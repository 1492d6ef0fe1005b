import { publishedField } from "tallystick-derive/reputationOf";
import { nanoToNumber } from "tallystick-derive/steward/nano";
import { suspendedUntil } from "tallystick-derive/steward/sla/penalties";
import { STEWARD_TIERS } from "tallystick-derive/steward/stewardTier";
import type { Row } from "tallystick-derive/tables";
import { parseUsdc } from "tallystick-protocol/amount";
import type { PlaceKind } from "../cursor.ts";
import type { Database } from "../database.ts";
import { type ClusterLoader, clusterOf, keepCluster } from "../rows/clusters.ts";
import {
  type ListingFilter,
  type ListingPlace,
  listingsThatPass,
  liveListings,
  type Match,
  type SearchOrder,
} from "../rows/listings.ts";
import { lastTick } from "../rows/state.ts";
import { nanoShare } from "../rows/steward.ts";
import { cutPage, readCursor, writeCursor } from "./cursor.ts";
import { offerJson } from "./listingJson.ts";
import type { SearchRequest, SearchResponse } from "./schemas.ts";

/** The order of results, as it is published. */
export const SEARCH_RANKING = [
  "trust_tier, highest first",
  "success_rate in whole percent, highest first; null last",
  "digits of last_30d_hire_count before the point, most first",
  "price_usdc, lowest first",
  "agent_id, capability and payment_mode, ascending",
];

const NANO = 1_000_000_000;

/**
 * The number of listings that are read at once if the first page had too few matches. In an order by a figure each
 * statement reads all live listings, so it gives more of them.
 */
const BATCH = 200;
const SORTED_BATCH = 1_000;

/**
 * When a search has sorted so many listings, it starts no further statement. Only an order by a figure reads the same
 * listings several times.
 */
const MAX_SORTED = 50_000;

/** The parts of a filter that every search has. */
const ALWAYS = ["capability", "unsuspended"];

/**
 * How many listings a search may look at to find a few. `skipped`: it reads them in the order of an index, and a filter
 * may not let them pass. `sorted`: it sorts them by a figure.
 */
export type Looks = { skipped?: number; sorted?: number };

/**
 * Live listings of one capability that pass every filter, in the published order (SHP §6). They are read in
 * that order from one index. The index first filters by rates in percent and tenths, which are copied to
 * listings. Then the published rates are compared.
 *
 * @param onLooks called before statements that may look at many listings
 */
export async function search(
  db: Database,
  clusters: ClusterLoader,
  request: SearchRequest,
  onLooks: (looks: Looks) => void = () => {},
): Promise<SearchResponse> {
  const filter = filterOf(request);
  const matches: Match[] = [];
  const order = request.order_by ?? "ranking";
  let after = request.cursor ? placeAfter(request.cursor, order) : undefined;
  let wanted = request.limit + 1;
  const isFigured = order !== "ranking";
  const isFiltered = Object.entries(filter).some(([name, it]) => it !== null && !ALWAYS.includes(name));
  const live = isFigured || isFiltered ? await liveListings(db, request.capability) : 0;
  // It stops early if it finds enough, but nobody knows this before. These searches are paid for in advance.
  if (!isFigured) onLooks({ skipped: live });
  let sorted = 0;
  let isCut = false;
  for (;;) {
    if (isFigured) onLooks({ sorted: live });
    sorted += isFigured ? live : 0;
    const rows = await listingsThatPass(db, filter, after, wanted, order);
    matches.push(...rows.filter(({ agent }) => passes(agent, request)));
    const last = rows.at(-1);
    if (matches.length > request.limit || rows.length < wanted || last === undefined) break;
    after = placeOf(last, order);
    isCut = sorted >= MAX_SORTED;
    if (isCut) break;
    wanted = isFigured ? SORTED_BATCH : BATCH;
  }
  const page = cutPage(matches, request.limit, (match) => placeOf(match, order));
  const next_cursor = isCut && after ? writeCursor(after) : page.next_cursor;
  const { shown } = page;
  for (const { cluster } of shown) keepCluster(clusters, cluster);
  const time = shown.some(({ suspensions }) => suspensions) ? (await lastTick(db)).time : 0;
  return { agents: await Promise.all(shown.map((match) => resultOf(match, clusters, time))), next_cursor };
}

function filterOf(request: SearchRequest): ListingFilter {
  const { max_price_usdc: price, min_verification_version: version } = request;
  const { min_success_rate: rate, min_avg_stars: stars } = request;
  const { min_kept_usdc: kept, min_receipt_coverage: covered } = request;
  return {
    capability: request.capability,
    maxPrice: price ? parseUsdc(price, "max_price_usdc").toString() : null,
    maxLatency: request.max_latency_ms ?? null,
    minTier: request.min_trust_tier ?? null,
    mode: request.payment_mode ?? null,
    minVersion: version ? Number(version.slice(1)) : null,
    clarification: request.clarification_supported ?? null,
    audited: request.audited ?? null,
    identified: request.erc8004 ?? null,
    minPercent: rate === null || rate === undefined ? null : Math.floor(rate * 100),
    minTenths: stars === null || stars === undefined ? null : Math.floor(stars * 10),
    minFamilies: request.min_independent_buyers ?? null,
    minKept: kept ? parseUsdc(kept, "min_kept_usdc").toString() : null,
    // The minimum is lowered by one unit, because published figures are rounded. The exact comparison follows later.
    minCovered: covered === null || covered === undefined ? null : Math.floor(covered * NANO) - 1,
    minScore: request.min_steward_score == null ? null : nanoShare(request.min_steward_score),
    minStewardTier:
      request.steward_tier == null
        ? null
        : STEWARD_TIERS.findIndex(({ name }) => name === request.steward_tier),
    unsuspended: request.include_suspended === true ? null : true,
  };
}

/** A rate that is null passes no minimum, not even 0. */
function passes(agent: Row<"agent">, request: SearchRequest): boolean {
  const { min_kept_usdc: kept } = request;
  return (
    reaches(agent, "success_rate", request.min_success_rate) &&
    reaches(agent, "avg_stars", request.min_avg_stars) &&
    reaches(agent, "independent_buyers", request.min_independent_buyers) &&
    reaches(agent, "receipt_coverage", request.min_receipt_coverage) &&
    (kept == null || parseUsdc(publishedField(agent, "kept_usdc")) >= parseUsdc(kept))
  );
}

function reaches(
  agent: Row<"agent">,
  rate: "success_rate" | "avg_stars" | "independent_buyers" | "receipt_coverage",
  least: number | null | undefined,
): boolean {
  if (least === null || least === undefined) return true;
  const value = publishedField(agent, rate);
  return value !== null && value >= least;
}

function placeOf({ listing: { rank, price, id }, figure }: Match, order: SearchOrder): ListingPlace {
  return order === "ranking" ? [rank, price.toString(), id] : [figure, rank, price.toString(), id];
}

function placeAfter(cursor: string, order: SearchOrder): ListingPlace {
  const kinds: PlaceKind[] = ["number", "digits", "text"];
  return readCursor(cursor, order === "ranking" ? kinds : ["number", ...kinds]) as ListingPlace;
}

async function resultOf(
  { listing, agent, score, stewardTier, suspensions }: Match,
  clusters: ClusterLoader,
  time: number,
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
      independent_buyers: publishedField(agent, "independent_buyers"),
      kept_usdc: publishedField(agent, "kept_usdc"),
      receipt_coverage: publishedField(agent, "receipt_coverage"),
      ...membership,
    },
    steward:
      score === null && !suspensions
        ? null
        : {
            score: nanoToNumber(score ?? 0),
            tier: STEWARD_TIERS[stewardTier ?? 0]?.name ?? "UNVERIFIED",
            suspended_until: suspendedUntil(suspensions ?? "", time),
          },
  };
}
