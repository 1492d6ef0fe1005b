import type { SQL } from "drizzle-orm";
import { and, asc, eq, gte, lte, sql } from "ponder";
import { STATE_ID } from "tallystick-derive/stateId";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { clusterIsNamed } from "./clusters.ts";
import { type RowList, readAlong } from "./list.ts";
import { prepared } from "./prepared.ts";

/** Any platform escrow, whoever runs it (SHP §6.1). */
export const ANY_PLATFORM_ESCROW = "platform_escrow:*";

const { listing, agent, cluster, state } = schema;
const isPlatformEscrow = sql`${listing.paymentMode} LIKE 'platform\\_escrow:%'`;

const ofState = (what: SQL) => sql`(SELECT ${what} FROM ${state} WHERE ${state.id} = ${STATE_ID})`;

/** That a listing agreed to audits of an operator that is followed, and that this holds by now: not null. */
const isAudited = sql`coalesce(${listing.auditFrom} <= ${ofState(sql`${state.time}`)}
  AND jsonb_exists(${ofState(sql`${state.params}::jsonb -> 'audit' -> 'operators'`)}, ${listing.auditOperator}), false)`;

/** That a listing is paid by a mode, or by {@link ANY_PLATFORM_ESCROW}. */
export function paysBy(mode: string): SQL {
  return mode === ANY_PLATFORM_ESCROW ? isPlatformEscrow : eq(listing.paymentMode, mode);
}

/** An agent's listings by capability and payment mode: those that are live, or all that it ever published. */
export function listingsOf(address: string, which: "live" | "all"): RowList<Row<"listing">> {
  return {
    table: listing,
    of: { name: `listings of ${which}`, column: listing.agent, id: address },
    order: [listing.id],
    direction: "asc",
    filter: which === "live" ? eq(listing.live, true) : undefined,
  };
}

/** Which live listings; all conditions must hold. Prices are atomic units. */
export type OfferWhere = Partial<{
  capability: string | null;
  paymentMode: string | null;
  maxPriceUsdc: bigint | null;
  maxLatencyMs: number | null;
  minTrustTier: number | null;
  firstCallFree: boolean | null;
  clarificationSupported: boolean | null;
}>;

/** As search ranks them, the cheapest first (of one capability), or the latest first. */
export type OfferOrder = "rank" | "price" | "newest";

const OFFER_ORDERS: Record<OfferOrder, Pick<RowList<unknown>, "order" | "direction">> = {
  rank: { order: [listing.rank, listing.price, listing.id], direction: "asc" },
  price: { order: [listing.price, listing.id], direction: "asc" },
  newest: { order: [listing.block, listing.log, listing.seq, listing.id], direction: "desc" },
};

/** Live listings in an order that an index gives: those of a capability along it, but the latest along all. */
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
    firstCallFree != null ? eq(listing.firstCallFree, firstCallFree) : undefined,
    clarificationSupported != null ? eq(listing.clarificationSupported, clarificationSupported) : undefined,
  );
  const along: [typeof listing.capability, string] | undefined =
    isAlong && capability != null ? [listing.capability, capability] : undefined;
  return {
    table: listing,
    ...OFFER_ORDERS[orderBy],
    of: readAlong(`offers by ${orderBy}`, along, { ...where, maxPriceUsdc: maxPriceUsdc?.toString() }),
    where: eq(listing.live, true),
    filter,
  };
}

/** A live listing, its agent, and the cluster that the agent named first. */
export type Match = { listing: Row<"listing">; agent: Row<"agent">; cluster: Row<"cluster"> | null };

/** What a listing must meet; null lets everything pass. Prices are atomic units, rates are cut to whole percent and tenths. */
export type ListingFilter = {
  capability: string;
  maxPrice: string | null;
  maxLatency: number | null;
  minTier: number | null;
  mode: string | null;
  minVersion: number | null;
  clarification: boolean | null;
  audited: boolean | null;
  minPercent: number | null;
  minTenths: number | null;
  /** Of its agent: families of buyers, what stayed (atomic units), receipts for each 10⁹ payments. */
  minFamilies: number | null;
  minKept: string | null;
  minCovered: number | null;
};

/** Where a listing stands in the published order; the price in atomic units. */
export type ListingPlace = [rank: number, price: string, id: string];

/** The first `limit` live listings after a place, in the published order, that pass a filter: read from one index. */
export function listingsThatPass(
  db: Database,
  { mode, ...filter }: ListingFilter,
  after: ListingPlace | undefined,
  limit: number,
): Promise<Match[]> {
  return statement(db, limit, after !== undefined).execute({
    ...filter,
    mode: mode === ANY_PLATFORM_ESCROW ? null : mode,
    anyEscrow: mode === ANY_PLATFORM_ESCROW ? true : null,
    ...(after !== undefined && { rank: after[0], price: after[1], id: after[2] }),
  });
}

type Statement = {
  execute: (values: { [name: string]: string | number | boolean | null }) => Promise<Match[]>;
};

/**
 * The search as a statement that each connection plans once. One for each limit, because a plan for any limit would be a
 * plan for reading far more.
 */
function statement(db: Database, limit: number, hasCursor: boolean): Statement {
  const name = `search_${limit}${hasCursor ? "_after" : ""}`;
  return prepared(db, name, () => prepare(db, name, limit, hasCursor));
}

function prepare(db: Database, name: string, limit: number, hasCursor: boolean): Statement {
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
        given("anyEscrow", "boolean", () => isPlatformEscrow),
        given("minVersion", "bigint", (least) => sql`${listing.verificationRank} >= ${least}`),
        given("clarification", "boolean", (wanted) => sql`${listing.clarificationSupported} = ${wanted}`),
        given("audited", "boolean", (wanted) => sql`${isAudited} = ${wanted}`),
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
        hasCursor ? sql`(${listing.rank}, ${listing.price}, ${listing.id}) > ${after}` : undefined,
      ),
    )
    .orderBy(asc(listing.rank), asc(listing.price), asc(listing.id))
    .limit(limit)
    .prepare(name) as Statement;
}
