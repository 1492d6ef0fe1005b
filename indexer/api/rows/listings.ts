import type { SQL } from "drizzle-orm";
import { and, asc, eq, gte, lte, sql } from "ponder";
import { STATE_ID } from "tallystick-derive/stateId";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import { publishedFigures } from "../../src/publishedFigures.ts";
import type { Database } from "../database.ts";
import { clusterIsNamed } from "./clusters.ts";
import { hasIdentity } from "./identities.ts";
import { alongColumn, type RowList } from "./list.ts";
import { limitFor, prepared } from "./prepared.ts";
import { nanoShare, type ScoreWhere } from "./steward.ts";

/** Any platform escrow, of any provider (SHP §6.1). */
export const ANY_PLATFORM_ESCROW = "platform_escrow:*";

const { listing, agent, cluster, state, steward, sla } = schema;
const isPlatformEscrow = sql`${listing.paymentMode} LIKE 'platform\\_escrow:%'`;

const ofState = (what: SQL) => sql`(SELECT ${what} FROM ${state} WHERE ${state.id} = ${STATE_ID})`;

/**
 * The condition that hires of a listing can be audited now: its consent names an operator that this node follows, and the
 * consent has begun. Never null.
 */
const isAudited = sql`coalesce(${listing.auditFrom} <= ${ofState(sql`${state.time}`)}
  AND jsonb_exists(${ofState(sql`${state.params}::jsonb -> 'audit' -> 'operators'`)}, ${listing.auditOperator}), false)`;

/**
 * The condition that an agent is suspended now for a breach of its SLA. It is a look-up for each row, so that
 * Postgres cannot join all suspensions.
 */
export function isSuspended(id: SQL): SQL {
  const lines = sql`unnest(string_to_array(${sla.suspensions}, E'\\n')) AS line`;
  const now = ofState(sql`${state.time}`);
  return sql`coalesce((SELECT true FROM ${sla}, ${lines} WHERE ${sla.id} = ${id} AND split_part(line, ' ', 2)::bigint <= ${now}
    AND split_part(line, ' ', 3)::bigint > ${now} LIMIT 1), false)`;
}

/** The trust score of the agent with an id, or its tier; null before it was computed. */
function scoreOf(column: SQL, id: SQL): SQL {
  return sql`(SELECT ${column} FROM ${steward} WHERE ${steward.id} = ${id} AND ${steward.computedTime} IS NOT NULL)`;
}

/** The condition that an agent has at least this trust score, or this tier. */
export function hasScore(id: SQL, { minScore, minTier }: ScoreWhere): SQL | undefined {
  return and(
    minScore == null ? undefined : sql`${scoreOf(sql`${steward.score}`, id)} >= ${nanoShare(minScore)}`,
    minTier == null ? undefined : sql`${scoreOf(sql`${steward.tier}`, id)} >= ${minTier}`,
  );
}

/** The condition that an agent's published figures reach these minimums. It makes one look-up for each row. */
function restsOn(id: SQL, where: OfferWhere): SQL | undefined {
  const least = [
    [publishedFigures.families(agent), where.minIndependentBuyers],
    [publishedFigures.kept(agent), where.minKeptUsdc],
    [publishedFigures.coverage(agent), where.minReceiptCoverage],
  ] as const;
  const asked = least.flatMap(([figure, value]) =>
    value === null || value === undefined
      ? []
      : [sql`${figure} >= ${String(value < 0 ? 0 : value)}::numeric`],
  );
  if (asked.length === 0) return undefined;
  return sql`coalesce((SELECT true FROM ${agent} WHERE ${and(eq(agent.id, id), ...asked)}), false)`;
}

/** The condition that a listing is paid by a mode, or by {@link ANY_PLATFORM_ESCROW}. */
export function paysBy(mode: string): SQL {
  return mode === ANY_PLATFORM_ESCROW ? isPlatformEscrow : eq(listing.paymentMode, mode);
}

/** An agent's listings, sorted by capability and payment mode: the live ones, or all that it ever published. */
export function listingsOf(address: string, which: "live" | "all"): RowList<Row<"listing">> {
  return {
    table: listing,
    of: { name: `listings of ${which}`, column: listing.agent, id: address },
    order: [listing.id],
    direction: "asc",
    filter: which === "live" ? eq(listing.live, true) : undefined,
  };
}

/** A filter for live listings. All conditions must hold. Prices are atomic units. */
export type OfferWhere = Partial<{
  capability: string | null;
  paymentMode: string | null;
  maxPriceUsdc: bigint | null;
  maxLatencyMs: number | null;
  minTrustTier: number | null;
  /** Minimums for the seller. `minKeptUsdc` is in atomic units. */
  minIndependentBuyers: number | null;
  minKeptUsdc: bigint | null;
  minReceiptCoverage: number | null;
  /** Conditions on the seller's trust score, and whether suspended sellers are included. */
  minStewardScore: number | null;
  minStewardTier: number | null;
  includeSuspended: boolean | null;
  firstCallFree: boolean | null;
  clarificationSupported: boolean | null;
}>;

/** By search rank, the cheapest first (only for one capability), or the latest first. */
export type OfferOrder = "rank" | "price" | "newest";

const OFFER_ORDERS: Record<OfferOrder, Pick<RowList<unknown>, "order" | "direction">> = {
  rank: { order: [listing.rank, listing.price, listing.id], direction: "asc" },
  price: { order: [listing.price, listing.id], direction: "asc" },
  newest: { order: [listing.block, listing.log, listing.seq, listing.id], direction: "desc" },
};

/**
 * Live listings in the order of an index. If `where` names a capability, only its part of the index is read. But
 * `newest` always reads the listings of all capabilities.
 */
export function offerList(where: OfferWhere, orderBy: OfferOrder): RowList<Row<"listing">> {
  const { capability, paymentMode, maxPriceUsdc, maxLatencyMs, minTrustTier } = where;
  const { firstCallFree, clarificationSupported } = where;
  const isAlong = capability != null && orderBy !== "newest";
  const filter = and(
    capability != null && !isAlong ? eq(listing.capability, capability) : undefined,
    paymentMode != null ? paysBy(paymentMode) : undefined,
    maxPriceUsdc != null ? sql`${listing.price} <= ${String(maxPriceUsdc)}::numeric` : undefined,
    maxLatencyMs != null ? lte(listing.maxLatencyMs, maxLatencyMs) : undefined,
    minTrustTier != null ? gte(listing.trustTier, minTrustTier) : undefined,
    restsOn(sql`${listing.agent}`, where),
    hasScore(sql`${listing.agent}`, { minScore: where.minStewardScore, minTier: where.minStewardTier }),
    where.includeSuspended === true ? undefined : sql`NOT ${isSuspended(sql`${listing.agent}`)}`,
    firstCallFree != null ? eq(listing.firstCallFree, firstCallFree) : undefined,
    clarificationSupported != null ? eq(listing.clarificationSupported, clarificationSupported) : undefined,
  );
  const along: [typeof listing.capability, string] | undefined =
    isAlong && capability != null ? [listing.capability, capability] : undefined;
  return {
    table: listing,
    ...OFFER_ORDERS[orderBy],
    of: alongColumn(`offers by ${orderBy}`, along, {
      ...where,
      maxPriceUsdc: maxPriceUsdc?.toString(),
      minKeptUsdc: where.minKeptUsdc?.toString(),
    }),
    where: eq(listing.live, true),
    filter,
  };
}

/**
 * A live listing with its agent, the cluster that the agent's row names, its trust score and its suspensions.
 */
export type Match = {
  listing: Row<"listing">;
  agent: Row<"agent">;
  cluster: Row<"cluster"> | null;
  /**
   * The figure that comes before the rank in the order: a whole number, and a larger one is better. A listing
   * without a figure has the lowest value.
   */
  figure: number;
  /** In units of 10⁻⁹; null before it was computed. */
  score: number | null;
  stewardTier: number | null;
  suspensions: string | null;
};

/**
 * The requirements for a listing; null lets everything pass. Prices are atomic units. `minPercent` is a success
 * rate in whole percent, and `minTenths` is an average rating in tenths of a star.
 */
export type ListingFilter = {
  capability: string;
  maxPrice: string | null;
  maxLatency: number | null;
  minTier: number | null;
  mode: string | null;
  minVersion: number | null;
  clarification: boolean | null;
  audited: boolean | null;
  /** Whether its agent has an identity of ERC-8004 now. */
  identified: boolean | null;
  minPercent: number | null;
  minTenths: number | null;
  /**
   * Minimums for its agent: independent buyers, kept USDC (atomic units), and receipt coverage in units of
   * 10⁻⁹.
   */
  minFamilies: number | null;
  minKept: string | null;
  minCovered: number | null;
  /** Minimums for the trust score, in units of 10⁻⁹, and for its tier. */
  minScore: number | null;
  minStewardTier: number | null;
  /** True leaves out suspended sellers. */
  unsuspended: true | null;
};

/**
 * A listing's place in the published order; the price in atomic units. In an order by a figure, the figure
 * comes first.
 */
export type ListingPlace =
  | [rank: number, price: string, id: string]
  | [figure: number, rank: number, price: string, id: string];

/** The published order, or the highest of a figure first. */
export type SearchOrder = "ranking" | FigureOrder;

type FigureOrder = "steward_score" | "independent_buyers" | "kept_usdc" | "receipt_coverage";

/**
 * The first `limit` live listings after a place that pass a filter, in the order of `orderBy`. In the published order
 * they are read from one index.
 */
export async function listingsThatPass(
  db: Database,
  { mode, ...filter }: ListingFilter,
  after: ListingPlace | undefined,
  limit: number,
  orderBy: SearchOrder,
): Promise<Match[]> {
  const [id, price, rank, figure] = after?.toReversed() ?? [];
  const wanted = { limit: limitFor(limit), hasCursor: after !== undefined, orderBy };
  const rows = await statement(db, wanted).execute({
    ...filter,
    mode: mode === ANY_PLATFORM_ESCROW ? null : mode,
    anyEscrow: mode === ANY_PLATFORM_ESCROW ? true : null,
    ...(rank !== undefined && price !== undefined && id !== undefined && { rank, price, id }),
    ...(figure !== undefined && { figure }),
  });
  return rows.slice(0, limit);
}

type Wanted = { limit: number; hasCursor: boolean; orderBy: SearchOrder };

type Statement = {
  execute: (values: { [name: string]: string | number | boolean | null }) => Promise<Match[]>;
};

/**
 * The search as a statement that each connection plans once. There is one statement for each of a few limits, because one
 * plan for every limit would read far more rows than necessary.
 */
function statement(db: Database, wanted: Wanted): Statement {
  const { limit, hasCursor, orderBy } = wanted;
  const name = `search_${limit}${orderBy === "ranking" ? "" : `_${orderBy}`}${hasCursor ? "_after" : ""}`;
  return prepared(db, name, () => prepare(db, name, wanted));
}

/**
 * An order by a figure reads all live listings of the capability, because no index of listings has their
 * sellers' figures.
 */
function prepare(db: Database, name: string, { limit, hasCursor, orderBy }: Wanted): Statement {
  const isFigured = orderBy !== "ranking";
  const seller = sql`${listing.agent}`;
  const score = scoreOf(sql`${steward.score}`, seller);
  const tier = scoreOf(sql`${steward.tier}`, seller);
  const figures: { [order in FigureOrder]: SQL } = {
    steward_score: sql`coalesce(${score} + 1, 0)`,
    independent_buyers: publishedFigures.families(agent),
    kept_usdc: publishedFigures.kept(agent),
    receipt_coverage: sql`${publishedFigures.coverage(agent)} * 1000000000`,
  };
  // Numbers of JavaScript are exact up to this number. Figures above it are equal in this order.
  const most = sql.raw(String(Number.MAX_SAFE_INTEGER));
  const figure = sql`least(trunc(${isFigured ? figures[orderBy] : sql`0`}), ${most})::bigint`;
  // Negative, so that the highest figure comes first while all columns are ordered in one direction.
  const place = sql`-${figure}`;
  const ranked = sql`${listing.rank}, ${listing.price}, ${listing.id}`;
  const given = (value: string, type: string, filter: (value: SQL) => SQL) => {
    const placeholder = sql`${sql.placeholder(value)}::${sql.raw(type)}`;
    return sql`(${placeholder} IS NULL OR ${filter(placeholder)})`;
  };
  const afterFigure = isFigured ? sql`-${sql.placeholder("figure")}::bigint, ` : sql``;
  const after = sql`(${afterFigure}${sql.placeholder("rank")}::bigint, ${sql.placeholder("price")}::numeric(78), ${sql.placeholder("id")}::text)`;
  return db
    .select({
      listing,
      agent,
      cluster,
      figure: figure.mapWith(Number),
      score: score.mapWith(Number),
      stewardTier: tier.mapWith(Number),
      suspensions: sql<string | null>`(SELECT ${sla.suspensions} FROM ${sla} WHERE ${sla.id} = ${seller})`,
    })
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
        given("anyEscrow", "boolean", () => isPlatformEscrow),
        given("minVersion", "bigint", (least) => sql`${listing.verificationRank} >= ${least}`),
        given("clarification", "boolean", (wanted) => sql`${listing.clarificationSupported} = ${wanted}`),
        given("audited", "boolean", (wanted) => sql`${isAudited} = ${wanted}`),
        given("identified", "boolean", (wanted) => sql`${hasIdentity(seller)} = ${wanted}`),
        given("minPercent", "bigint", (least) => sql`${listing.successPercent} >= ${least}`),
        given("minTenths", "bigint", (least) => sql`${listing.starTenths} >= ${least}`),
        given("minFamilies", "bigint", (least) => sql`${agent.independentBuyers} >= ${least}`),
        given("minKept", "numeric(78)", (least) => sql`${agent.kept} >= ${least}`),
        given(
          "minCovered",
          "bigint",
          (least) =>
            sql`${agent.windowDirect} > 0 AND ${agent.windowDirect}::numeric * 1000000000 >= ${least} * (${agent.windowDirect} + ${agent.unreceipted})`,
        ),
        given("minScore", "bigint", (least) => sql`${score} >= ${least}`),
        given("minStewardTier", "bigint", (least) => sql`${tier} >= ${least}`),
        given("unsuspended", "boolean", () => sql`NOT ${isSuspended(seller)}`),
        hasCursor ? sql`(${isFigured ? sql`${place}, ` : sql``}${ranked}) > ${after}` : undefined,
      ),
    )
    .orderBy(...(isFigured ? [place] : []), asc(listing.rank), asc(listing.price), asc(listing.id))
    .limit(limit)
    .prepare(name) as Statement;
}
