import type { SQL } from "drizzle-orm";
import { and, desc, eq, gt, gte, isNotNull, isNull, lt, ne, sql } from "ponder";
import type { Counted } from "tallystick-derive/publishedField";
import { STATE_ID } from "tallystick-derive/stateId";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { alongColumn, type RowList, wantedColumns } from "./list.ts";

/** A filter for hires. Times are unix seconds, `paidFrom` inclusive, `paidBefore` exclusive. */
export type HireWhere = Partial<
  Record<"seller" | "buyer" | "capability" | "outcome" | "evidence", string | null> &
    Record<"paidFrom" | "paidBefore", number | null>
>;

const { hire, agent, state } = schema;
const latestFirst = { table: hire, order: [hire.time, hire.id], direction: "desc" } as const;

/** Hires that meet every condition, the latest first, with an index for the buyer, the seller or the capability. */
export function hireList(where: HireWhere): RowList<Row<"hire">> {
  const { seller, buyer, capability, outcome, evidence, paidFrom, paidBefore } = where;
  const along = wantedColumns([hire.buyer, buyer], [hire.seller, seller], [hire.capability, capability]);
  return {
    ...latestFirst,
    of: alongColumn("hires", along[0], where),
    where: and(
      typeof paidFrom === "number" ? gte(hire.time, paidFrom) : undefined,
      typeof paidBefore === "number" ? lt(hire.time, paidBefore) : undefined,
    ),
    filter: and(
      ...along.slice(1).map(([column, value]) => eq(column, value)),
      outcome ? eq(hire.outcome, outcome) : undefined,
      evidence ? eq(hire.evidence, evidence) : undefined,
    ),
  };
}

/** An agent's hires on one side, the latest first. */
export function hiresOf(address: string, side: "seller" | "buyer"): RowList<Row<"hire">> {
  return { ...latestFirst, of: { name: `hires of ${side}`, column: hire[side], id: address } };
}

/**
 * The hires that one figure of an agent counts, the latest first: a range of its hires by time.
 *
 * @param since unix seconds, exclusive; null where time does not matter
 */
export function countedHires(
  address: string,
  { side = "seller", hires = "all", window }: Counted,
  since: number | null,
): RowList<Row<"hire">> {
  const conditions: Record<typeof hires, SQL | undefined> = {
    all: undefined,
    rated: ne(hire.outcome, "neutral"),
    direct: isNull(hire.escrowId),
    escrow: isNotNull(hire.escrowId),
    contested: eq(hire.refundAfterDelivery, true),
    timed: isNotNull(hire.latencyMs),
    priced: isNotNull(hire.capability),
  };
  return {
    ...latestFirst,
    of: { name: `hires counted ${side} ${hires} ${window} ${since}`, column: hire[side], id: address },
    where: since === null ? undefined : gt(hire.time, since),
    filter: and(
      // A canary, which an operator of audits arranged, is in no figure.
      window === "volumeWindowSeconds" ? eq(hire.isCanary, false) : eq(hire.inWindow, true),
      conditions[hires],
    ),
  };
}

/**
 * A hire's price and outcome, and the present trust tier of its buyer; null when the buyer is not an agent.
 */
export type SampledHire = Pick<Row<"hire">, "price" | "outcome" | "latencyMs"> & { tier: number | null };

/**
 * The latest `limit` hires in the window from a seller, or for a capability. Canaries are left out, because they are in no
 * figure.
 */
export async function latestHires(
  db: Database,
  of: { seller: string } | { capability: string },
  limit: number,
): Promise<SampledHire[]> {
  // Selected by time and not by a flag, so that rows older than the window are not read.
  const windowStart = sql`(SELECT ${state.time} - (${state.params}::jsonb ->> 'windowSeconds')::bigint FROM ${state} WHERE ${state.id} = ${STATE_ID})`;
  return await db
    .select({ price: hire.price, outcome: hire.outcome, latencyMs: hire.latencyMs, tier: agent.trustTier })
    .from(hire)
    .leftJoin(agent, eq(agent.id, hire.buyer))
    .where(
      and(
        "seller" in of ? eq(hire.seller, of.seller) : eq(hire.capability, of.capability),
        gt(hire.time, windowStart),
        eq(hire.isCanary, false),
      ),
    )
    .orderBy(desc(hire.time), desc(hire.id))
    .limit(limit);
}
