import { and, asc, desc, eq, gt, inArray, lt, lte, or, sql } from "ponder";
import type { Row } from "tallystick-derive/tables";
import * as schema from "../../ponder.schema.ts";
import type { Database } from "../database.ts";
import { clusterIsNamed } from "./clusters.ts";
import { chargedSkips, type RowList } from "./list.ts";
import { limitFor, prepared } from "./prepared.ts";
import type { RowOf } from "./rowsById.ts";

const { agent, agentDay, agentPair, capabilityDay, cluster, marketDay } = schema;
const { capabilityAgent: entry, capabilityTotal: total } = schema;

/** UTC days since 1970: from the day after `after` up to `to`. */
export type Days = { after: number; to: number };

/** The days on which an agent was hired, the oldest first. */
export async function agentDays(
  db: Database,
  address: string,
  { after, to }: Days,
): Promise<RowOf<"agentDay">[]> {
  return await db
    .select()
    .from(agentDay)
    .where(and(eq(agentDay.agent, address), gt(agentDay.day, after), lte(agentDay.day, to)))
    .orderBy(asc(agentDay.day));
}

/** For each capability, in the order given, the days on which somebody was hired for it, the oldest first. */
export async function capabilityDays(
  db: Database,
  capabilities: readonly string[],
  { after, to }: Days,
): Promise<RowOf<"capabilityDay">[][]> {
  if (capabilities.length === 0) return [];
  const { capability, day } = capabilityDay;
  const rows = await db
    .select()
    .from(capabilityDay)
    .where(and(inArray(capability, [...capabilities]), gt(day, after), lte(day, to)))
    .orderBy(asc(day));
  const found = Map.groupBy(rows, (row) => row.capability);
  return capabilities.map((name) => found.get(name) ?? []);
}

/** The days on which anybody was hired, the oldest first. */
export async function marketDays(db: Database, { after, to }: Days): Promise<RowOf<"marketDay">[]> {
  const { day } = marketDay;
  return await db
    .select()
    .from(marketDay)
    .where(and(gt(day, after), lte(day, to)))
    .orderBy(asc(day));
}

/**
 * The order of capabilities: by name, the most hired first (weighted hires of the window), or the most offered
 * first.
 */
export type OfferedOrder = "name" | "hires" | "listings";

/** Capabilities that somebody offers, or was hired for in the window. */
export function offeredList(orderBy: OfferedOrder): RowList<RowOf<"capabilityTotal">> {
  const by = { name: [], hires: [total.weight], listings: [total.listings] }[orderBy];
  return {
    table: total,
    order: [...by, total.id],
    direction: orderBy === "name" ? "asc" : "desc",
    filter: or(gt(total.listings, 0), gt(total.hires, 0)),
  };
}

/**
 * The buyers of an agent, or the sellers it hired, by the number of hires of all time, the most first. The
 * order and the cursors must not reveal how often a seller with private metrics was hired. So its own list is
 * in the order of the buyers' addresses, and no buyer's list contains it. The latter is not a filter of the list, because
 * the cursor of a filtered list may name a row that is left out.
 */
export function counterpartyList(
  { id: address, privateListings }: Pick<Row<"agent">, "id" | "privateListings">,
  side: "seller" | "buyer",
): RowList<RowOf<"agentPair">> {
  const { id, hires, seller } = agentPair;
  if (side === "seller" && privateListings > 0) {
    // A pair's id begins with the seller's address and a slash. The character after the slash in ASCII is the
    // zero, so this range has all ids of the seller.
    const isTheirs = and(gt(id, `${address}/`), lt(id, `${address}0`), gt(hires, 0));
    return { table: agentPair, order: [id], direction: "asc", where: isTheirs };
  }
  const isOpen = sql`(SELECT ${agent.privateListings} = 0 FROM ${agent} WHERE ${agent.id} = ${seller})`;
  return {
    table: agentPair,
    of: { name: `counterparties of a ${side}`, column: agentPair[side], id: address },
    order: [hires, id],
    direction: "desc",
    where: gt(hires, 0),
    open: side === "buyer" ? isOpen : undefined,
  };
}

/** The capabilities that were hired in the window, by weighted hires, the most first. */
export function capabilityList(): RowList<RowOf<"capabilityTotal">> {
  return { table: total, order: [total.weight, total.id], direction: "desc", where: gt(total.weight, 0) };
}

/**
 * The agents that were hired for a capability in the window, by weighted hires, the most first. Agents with
 * private metrics are left out, also of cursors, so this is not a filter of the list.
 */
export function leaderList(capability: string): RowList<RowOf<"capabilityAgent">> {
  return {
    table: entry,
    of: { name: "leaders of", column: entry.capability, id: capability },
    order: [entry.weight, entry.id],
    direction: "desc",
    where: gt(entry.weight, 0),
    open: sql`(SELECT ${agent.privateListings} = 0 FROM ${agent} WHERE ${agent.id} = ${entry.agent})`,
  };
}

/** A row of {@link leaderList}, with its agent and the cluster that the agent's row names. */
export type Leading = {
  entry: RowOf<"capabilityAgent">;
  agent: Row<"agent">;
  cluster: Row<"cluster"> | null;
};

/** The place of a row in {@link leaderList}. */
export type LeaderPlace = [weight: number, id: string];

/**
 * The first `limit` of {@link leaderList} after a place, with their agents and clusters. `skipped` is the number of rows that
 * were left out before the last of them, or before the end of the list, as {@link chargedSkips} rounds it.
 */
export async function leadersAfter(
  db: Database,
  capability: string,
  after: LeaderPlace | undefined,
  limit: number,
): Promise<{ rows: Leading[]; skipped: number }> {
  const most = limitFor(limit);
  const found = await statement(db, most, after !== undefined).execute({
    capability,
    ...(after !== undefined && { weight: after[0], id: after[1] }),
  });
  // The statement may read more rows than its caller wants. The caller does not pay for what is between these.
  const rows = found.slice(0, limit);
  const last = found.length < limit ? undefined : rows.at(-1)?.entry;
  const until: LeaderPlace | undefined = last && [last.weight, last.id];
  const skipped = (await countLeaders(db, capability, after, until)) - rows.length;
  return { rows, skipped: chargedSkips(Math.max(0, skipped)) };
}

/** The number of rows after a place and up to another one, with those of agents that are left out. */
async function countLeaders(
  db: Database,
  capability: string,
  after: LeaderPlace | undefined,
  until: LeaderPlace | undefined,
): Promise<number> {
  const place = sql`(${entry.weight}, ${entry.id})`;
  const isBetween = and(
    eq(entry.capability, capability),
    gt(entry.weight, 0),
    after && sql`${place} < (${after[0]}::bigint, ${after[1]}::text)`,
    until && sql`${place} >= (${until[0]}::bigint, ${until[1]}::text)`,
  );
  const [counted] = await db.select({ count: sql<number>`count(*)::int` }).from(entry).where(isBetween);
  return counted?.count ?? 0;
}

type Statement = { execute: (values: Record<string, unknown>) => Promise<Leading[]> };

/** The statement that each connection plans once. There is one for each limit, as for a search. */
function statement(db: Database, limit: number, hasCursor: boolean): Statement {
  const name = `leaderboard_${limit}${hasCursor ? "_after" : ""}`;
  const after = sql`(${sql.placeholder("weight")}::bigint, ${sql.placeholder("id")}::text)`;
  const make = () =>
    db
      .select({ entry, agent, cluster })
      .from(entry)
      .innerJoin(agent, eq(agent.id, entry.agent))
      .leftJoin(cluster, clusterIsNamed)
      .where(
        and(
          eq(entry.capability, sql.placeholder("capability")),
          gt(entry.weight, 0),
          eq(agent.privateListings, 0),
          hasCursor ? sql`(${entry.weight}, ${entry.id}) < ${after}` : undefined,
        ),
      )
      .orderBy(desc(entry.weight), desc(entry.id))
      .limit(limit)
      .prepare(name) as Statement;
  return prepared(db, name, make);
}
